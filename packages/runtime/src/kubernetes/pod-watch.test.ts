import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../test/kubernetes/fake-api-server.ts';
import { createClusterClient } from './cluster-client.ts';
import { watchPods } from './pod-watch.ts';

const path = '/api/v1/namespaces/bots/pods';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Watches the pods with the label `of=me`, and records each call. Throws for pods in the phase `Refused`. */
async function watch(server: FakeApiServer, stallMs?: number) {
  const credentials = { token: server.token, ca: undefined, cert: undefined, key: undefined };
  const access = {
    server: new URL(server.origin),
    namespace: null,
    tlsServerName: undefined,
    skipsVerification: false,
  };
  const client = createClusterClient({ ...access, readCredentials: async () => credentials });
  const seen: string[] = [];
  const errors: object[] = [];
  let time = Date.now();
  const watched = await watchPods({
    client,
    path,
    labelSelector: 'of=me',
    logger: { ...silent, error: (fields) => void errors.push(fields) },
    now: () => new Date(time),
    onListed: (pods) => seen.push(`listed ${pods.map(({ metadata }) => metadata.name).join(' ')}`),
    onChanged: ({ metadata, status }) => {
      if (status.phase === 'Refused') throw new Error('not handled');
      seen.push(`${metadata.name} ${status.phase}`);
    },
    onDeleted: ({ metadata }) => seen.push(`${metadata.name} deleted`),
    random: () => 0,
    ...(stallMs === undefined ? {} : { stallMs }),
  });
  onTestFinished(async () => {
    await watched.close();
    await client.close();
  });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  const create = async (name: string, of = 'me') => {
    await client.call('POST', path, { body: { metadata: { name, labels: { of } }, spec: { containers: [] } } });
    const pod = server.pods.get(name);
    if (pod === undefined) throw new Error(`pod ${name} was not created`);
    return pod;
  };
  const countLists = () =>
    server.requests.filter(({ method, query }) => method === 'GET' && query.get('watch') !== 'true').length;
  return { watched, seen, errors, pass, create, countLists };
}

async function startServer(): Promise<FakeApiServer> {
  const server = await startFakeApiServer(() => {
    throw new Error('no pods run');
  });
  onTestFinished(() => server.close());
  return server;
}

describe('watchPods', () => {
  it('lists the pods that the selector matches, and then reports each change', async () => {
    const server = await startServer();
    const { seen, create } = await watch(server);
    const pod = await create('a');
    await create('other', 'somebody');
    pod.status.phase = 'Running';
    server.update(pod);
    server.remove(pod);
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending', 'a Running', 'a deleted']);
  });

  it('lists more pods than a page has', async () => {
    const server = await startServer();
    const { create } = await watch(server);
    for (let index = 0; index < 501; index++) await create(`pod-${index}`);
    const { seen, countLists } = await watch(server);
    expect(seen.at(-1)?.split(' ')).toHaveLength(502);
    expect(countLists()).toBe(3);
  });

  it.each([
    ['an interruption', ''],
    ['a line that is not JSON', 'proxy error\n'],
    ['half a line', '{"type":"MODIFIED","object":{"meta'],
  ])('continues with the next change after %s, without another list', async (_, last) => {
    const server = await startServer();
    const { seen, create, countLists } = await watch(server);
    const pod = await create('a');
    await expect.poll(() => seen).toContain('a Pending');
    server.dropWatches(last);
    server.remove(pod);
    await create('b');
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending', 'a deleted', 'b Pending']);
    expect(countLists()).toBe(1);
  });

  it('lists again if the API server does not keep the next change any more', async () => {
    const server = await startServer();
    const { seen, create } = await watch(server);
    await create('a');
    await expect.poll(() => seen).toContain('a Pending');
    server.stalls = true;
    await create('b');
    server.expireHistory();
    server.stalls = false;
    server.dropWatches();
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending', 'a Pending', 'b Pending', 'listed a b']);
  });

  it('lists again after an error of the watch that is not about its version', async () => {
    const server = await startServer();
    const { seen, create, countLists } = await watch(server);
    await create('a');
    await expect.poll(() => seen).toContain('a Pending');
    const status = { kind: 'Status', status: 'Failure', code: 500, message: 'etcd event could not be decoded' };
    server.dropWatches(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending', 'a Pending', 'listed a']);
    expect(countLists()).toBe(2);
  });

  it.each([
    ['its handler throws', { phase: 'Refused' }],
    ['it is not valid', { phase: 7 }],
  ])('logs and skips a change once if %s, and continues with the next one', async (_, status) => {
    const server = await startServer();
    const { seen, errors, create, countLists } = await watch(server);
    const pod = await create('a');
    Object.assign(pod.status, status);
    server.update(pod);
    await expect.poll(() => errors).toMatchObject([{ pod: 'a' }]);
    server.dropWatches();
    await create('b');
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending', 'b Pending']);
    expect(errors).toHaveLength(1);
    expect(countLists()).toBe(1);
  });

  it('reports the other pods of a list if one of them cannot be handled', async () => {
    const server = await startServer();
    const { create } = await watch(server);
    Object.assign((await create('a')).status, { phase: 7 });
    Object.assign((await create('b')).status, { phase: 'Refused' });
    await create('c');
    const { seen, errors } = await watch(server);
    expect(seen).toEqual(['c Pending', 'listed b c']);
    expect(errors).toMatchObject([{ pod: 'a' }, { pod: 'b' }]);
  });

  it('connects again if a watch has no line for the time to stall', async () => {
    const server = await startServer();
    const { seen, create } = await watch(server, 2_000);
    server.stalls = true;
    await create('a');
    const countWatches = () => server.requests.filter(({ query }) => query.get('watch') === 'true').length;
    await expect.poll(countWatches).toBeGreaterThan(1);
    server.stalls = false;
    await expect.poll(() => seen).toEqual(['listed ', 'a Pending']);
  });

  it('is fresh until 90 seconds after the last line', async () => {
    const server = await startServer();
    const { watched, pass } = await watch(server);
    server.stalls = true;
    pass(89_000);
    expect(watched.isFresh()).toBe(true);
    pass(1_000);
    expect(watched.isFresh()).toBe(false);
    server.stalls = false;
    await expect.poll(() => watched.isFresh()).toBe(true);
  });

  it('is not connected while the API server refuses watches', async () => {
    const server = await startServer();
    const { watched } = await watch(server);
    expect(watched.isConnected()).toBe(true);
    const refused = { matches: () => true, times: Number.POSITIVE_INFINITY, act: 'no-response' as const };
    server.faults.push(refused);
    server.dropWatches();
    await expect.poll(watched.isConnected).toBe(false);
    refused.times = 0;
    await expect.poll(watched.isConnected).toBe(true);
  });

  it('rejects if the first list is refused', async () => {
    const server = await startServer();
    const act = { status: 403, message: 'pods is forbidden', reason: 'Forbidden' };
    server.faults.push({ matches: ({ path: requested }) => requested === path, times: 1, act });
    await expect(watch(server)).rejects.toMatchObject({ status: 403 });
  });
});
