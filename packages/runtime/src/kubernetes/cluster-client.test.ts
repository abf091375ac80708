import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeFault, startFakeApiServer } from '../../test/kubernetes/fake-api-server.ts';
import { testUnless } from '../../test/skip-with-reason.ts';
import { createTestAuthority } from '../../test/test-authority.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { ClusterError, createClusterClient } from './cluster-client.ts';

const noOpenssl = await promisify(execFile)('openssl', ['version']).then(
  () => null,
  () => 'openssl is not installed',
);
const pods = '/api/v1/namespaces/bots/pods';
const secrets = '/api/v1/namespaces/bots/secrets';

async function connect(readToken: (isRefused: boolean) => string = () => 'first-token', timeoutMs?: number) {
  const server = await startFakeApiServer(() => {
    throw new Error('no pods run');
  });
  onTestFinished(() => server.close());
  const readCredentials: ClusterAccess['readCredentials'] = async (refused) => ({
    token: readToken(refused !== null),
    ca: undefined,
    cert: undefined,
    key: undefined,
  });
  const url = new URL(server.origin);
  const access = { server: url, namespace: null, tlsServerName: undefined, skipsVerification: false, readCredentials };
  const client = createClusterClient(access, { random: () => 0, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  onTestFinished(() => client.close());
  const fail = (act: FakeFault['act'], times = 1) => server.faults.push({ matches: () => true, times, act });
  return { server, client, fail };
}

describe('createClusterClient', () => {
  it('rejects with the status, the reason and the message of the API server', async () => {
    const { client, server } = await connect();
    const error = { message: 'pods "a" not found', status: 404, reason: 'NotFound', retryAfterMs: null };
    await expect(client.call('GET', `${pods}/a`)).rejects.toMatchObject({ name: 'ClusterError', ...error });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['500', { status: 500, message: 'etcd has no leader' }],
    ['503', { status: 503, message: 'shutting down' }],
    ['429 without a time', { status: 429, message: 'too many requests' }],
    ['a closed connection', 'no-response'],
  ] as const)('sends a request again after %s', async (_, act) => {
    const { client, server, fail } = await connect();
    fail(act, 2);
    expect(await client.call('GET', pods)).toMatchObject({ items: [] });
    expect(server.requests).toHaveLength(3);
  });

  it('waits as long as the API server says in Retry-After', async () => {
    const { client, fail } = await connect();
    fail({ status: 429, message: 'too many requests', retryAfter: 1 });
    const before = performance.now();
    await client.call('GET', pods);
    expect(performance.now() - before).toBeGreaterThanOrEqual(990);
  });

  it('gives up after five attempts, or when its signal aborts', async () => {
    const { client, server, fail } = await connect();
    fail({ status: 503, message: 'shutting down' }, 5);
    await expect(client.call('GET', pods)).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(5);
    fail('hang');
    const aborting = new AbortController();
    const called = client.call('GET', pods, { signal: aborting.signal });
    aborting.abort(new Error('no longer needed'));
    await expect(called).rejects.toThrow('no longer needed');
  });

  it('sends a request again that gets no response in time, and then says that the API server does not respond', async () => {
    const { client, server, fail } = await connect(undefined, 500);
    fail('hang', 2);
    expect(await client.call('GET', pods)).toMatchObject({ items: [] });
    expect(server.requests).toHaveLength(3);
    fail('hang', 5);
    const message = expect.stringContaining('gave no complete response');
    await expect(client.call('GET', pods)).rejects.toMatchObject({ name: 'ClusterError', status: null, message });
    expect(server.requests).toHaveLength(8);
  });

  it('reports that an object exists if the response of its creation was lost', async () => {
    const { client, server, fail } = await connect();
    fail('lost-response');
    const body = { metadata: { name: 'a' }, data: {} };
    await expect(client.call('POST', secrets, { body })).rejects.toMatchObject({
      status: 409,
      reason: 'AlreadyExists',
    });
    expect([...server.secrets.keys()]).toEqual(['a']);
  });

  it('reads the credentials again if they are refused, for a stream, too', async () => {
    const tokens: boolean[] = [];
    const { client, server } = await connect((isRefused) => {
      tokens.push(isRefused);
      return isRefused ? 'second-token' : 'first-token';
    });
    server.token = 'second-token';
    expect(await client.call('GET', pods)).toMatchObject({ items: [] });
    expect(await text(await client.stream(pods))).toContain('"items":[]');
    expect(tokens).toEqual([false, true, false, true]);
    server.token = 'third-token';
    await expect(client.call('GET', pods)).rejects.toMatchObject({ status: 401 });
  });

  testUnless(noOpenssl, 'trusts a new authority once its credentials have it, and continues its streams', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-authorities-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const open = async (name: string) => {
      await mkdir(join(directory, name));
      const { file, issue } = await createTestAuthority(join(directory, name));
      const { certificateFile, keyFile } = await issue(['IP:127.0.0.1']);
      return { ca: await readFile(file, 'utf8'), cert: await readFile(certificateFile), key: await readFile(keyFile) };
    };
    const [first, second] = [await open('first'), await open('second')];
    const streams: ServerResponse[] = [];
    const server = createServer({ cert: first.cert, key: first.key }, (request, response) => {
      if (request.url !== '/stream') return void response.end('{}');
      response.flushHeaders();
      streams.push(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close().closeAllConnections());
    let { ca } = first;
    const client = createClusterClient({
      server: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
      namespace: null,
      tlsServerName: undefined,
      skipsVerification: false,
      readCredentials: async () => ({ ca, token: undefined, cert: undefined, key: undefined }),
    });
    onTestFinished(() => client.close());
    const stream = await client.stream('/stream');
    server.setSecureContext({ cert: second.cert, key: second.key });
    ca = second.ca;
    expect(await client.call('GET', '/')).toEqual({});
    streams[0]?.end('continued');
    expect(await text(stream)).toBe('continued');
  });

  it('names the address of an API server that does not listen', async () => {
    const { client, server } = await connect();
    await server.close();
    const failed = await client.stream(pods).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ClusterError);
    expect(failed).toMatchObject({ message: `${server.origin} does not respond: ECONNREFUSED.`, status: null });
  });
});
