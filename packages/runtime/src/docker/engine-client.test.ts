import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RuntimeUnavailableError } from '../runtime.ts';
import { connectToEngine } from './engine-client.ts';

/** Listens like a Docker engine, and returns its address and the URLs of requests. */
async function startFakeEngine(
  apiVersion: string | null,
  respond: RequestListener = (_, response) => response.end('[]'),
) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-engine-'));
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url ?? '');
    if (apiVersion !== null) response.setHeader('api-version', apiVersion);
    if (request.url === '/_ping') response.end('OK');
    else respond(request, response);
  });
  const socket = join(directory, 'docker.sock');
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });
  const connect = async () => {
    const engine = await connectToEngine(`unix://${socket}`);
    onTestFinished(() => engine.close());
    return engine;
  };
  return { connect, urls };
}

describe('connectToEngine', () => {
  // The versions of Debian 12, of Docker Engine 25, and of Docker Engine 29.
  it.each([
    ['1.41', '1.41'],
    ['1.44', '1.44'],
    ['1.52', '1.44'],
  ])('uses version %s of the API as %s', async (offered, used) => {
    const { connect, urls } = await startFakeEngine(offered);
    const engine = await connect();
    expect(await engine.call('GET', '/containers/json', { query: { all: 'true' } })).toEqual([]);
    expect(urls).toEqual(['/_ping', `/v${used}/containers/json?all=true`]);
  });

  it.each(['1.40', '2.0', null])('refuses an engine with version %s of the API', async (offered) => {
    const { connect } = await startFakeEngine(offered);
    await expect(connect()).rejects.toThrow(RuntimeUnavailableError);
    await expect(connect()).rejects.toThrow(/needs 1\.41\. Install Docker Engine 20\.10 or later/);
  });

  it('says what to do if no engine listens, or the address is not a socket', async () => {
    await expect(connectToEngine('unix:///nonexistent/docker.sock')).rejects.toThrow(
      'The Docker engine does not respond at /nonexistent/docker.sock (ENOENT). Start it, or set BOTHOST_DOCKER_HOST to its socket.',
    );
    await expect(connectToEngine('tcp://127.0.0.1:2375')).rejects.toThrow(/Set BOTHOST_DOCKER_HOST to unix:\/\//);
  });

  it('rejects with the message and status of the engine', async () => {
    const { connect } = await startFakeEngine('1.41', (_, response) => {
      response.statusCode = 409;
      response.end(JSON.stringify({ message: 'the name is taken' }));
    });
    await expect((await connect()).call('POST', '/containers/create')).rejects.toMatchObject({
      name: 'EngineError',
      message: 'the name is taken',
      status: 409,
    });
  });
});
