import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createApiClient } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { FakeFault } from '../../runtime/test/kubernetes/fake-api-server.ts';
import { type FakeCluster, startFakeCluster } from '../../runtime/test/kubernetes/fake-cluster.ts';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForSessionEnd,
} from './support/client.ts';
import { createVersionedBot, waitForSettledDeployment } from './support/deploys.ts';
import { insertSecondOrganization } from './support/second-organization.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';

const image = 'registry.test/team/bot:1';
/** Accepts each WebSocket, and sends 32 MiB if its query asks for them. Does not respond to requests for the path `/silent`. */
const silentBot = `
const { createHash } = require('node:crypto');
const { createServer } = require('node:http');
const respond = (listener) => (request, response) => request.url === '/silent' || listener(request, response);
require('node:http').createServer = (listener) => createServer(respond(listener)).on('upgrade', ({ headers, url }, socket) => {
  if (url === '/silent') return;
  const key = headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1').update(key).digest('base64');
  socket.on('error', () => undefined);
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n');
  socket.write('sec-websocket-accept: ' + accept + '\\r\\n\\r\\n');
  if (!url.includes('flood=')) return;
  const message = Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]);
  for (let sent = 0; sent < 512; sent += 1) socket.write(message);
  socket.end(Buffer.from([0x88, 2, 1000 >> 8, 1000 & 255]));
});
`;
const digest = `sha256:${'a'.repeat(64)}`;
const startsAtOnce = 2;

describe('the service with a fake cluster', () => {
  let directory: string;
  let cluster: FakeCluster;
  let service: TestServer;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-image-'));
    for (const [path, content] of Object.entries(createVersionedBot('one', silentBot)))
      await writeFile(join(directory, path), content);
    cluster = await startFakeCluster();
    // The first pod of a deployment names the tag, and later ones the digest.
    for (const reference of [image, image.replace(/:1$/, `@${digest}`)])
      cluster.node.images.set(reference, { directory, main: 'main.js', digest });
    service = await startTestServer({
      environment: {
        BOTHOST_RUNTIME: 'kubernetes',
        KUBECONFIG: cluster.kubeconfig,
        BOTHOST_KUBERNETES_USAGE: 'off',
        BOTHOST_STARTS_AT_ONCE: String(startsAtOnce),
      },
    });
  });
  afterAll(async () => {
    await service.close();
    await vi.waitUntil(() => cluster.server.pods.size === 0);
    await cluster.close();
    await rm(directory, { recursive: true });
  });

  const findClaimed = () =>
    [...cluster.server.pods.values()].filter(({ metadata }) => metadata.labels?.['bothost.dev/claimed'] === 'true');

  /** Reports the end of the pods of sessions. Their processes keep their connections open, like those of a node that has vanished. */
  async function losePods(count: number) {
    await expect.poll(findClaimed, { timeout: 10_000 }).toHaveLength(count);
    for (const pod of findClaimed()) {
      Object.assign(pod.status, { phase: 'Failed', reason: 'NodeLost', message: 'the node is gone' });
      cluster.server.update(pod);
    }
  }

  const getAgent = () => service.client.getAgent({ params: { agentName: 'bot' } });
  /** Returns why instances wait. */
  const findWait = async () => (await getAgent()).conditions.find(({ reason }) => reason === 'InstancesWait')?.message;

  const readVersion = async (address: Pick<TestServer, 'url' | 'publicKey'>, sessionId: string) => {
    const url = sessionUrl(address, 'bot', sessionId, '/version');
    return (await fetch(url, createBearerTokenHeaders(address.publicKey))).text();
  };

  const readMetrics = async () => (await fetch(`${service.url}/metrics`)).text();

  /** Stops sessions that their bots have, and waits until no pod has a session. */
  async function endSessions(...sessionIds: readonly string[]) {
    for (const sessionId of sessionIds) {
      expect(await readVersion(service, sessionId)).toBe('one');
      await stopAgentSession(service, 'bot', sessionId);
      expect(await waitForSessionEnd(service, 'bot', sessionId)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
    }
    await expect.poll(findClaimed, { timeout: 10_000 }).toEqual([]);
  }

  it('shows why the first pod waits, and serves a session in a pod once a node has room', async () => {
    cluster.node.lacksRoom = '0/3 nodes are available: 3 Insufficient cpu.';
    await service.client.createAgent({ body: { serviceName: 'bot', image } });
    const message = 'no node can run the pod now: 0/3 nodes are available: 3 Insufficient cpu.';
    await expect.poll(findWait, { timeout: 10_000 }).toBe(message);
    cluster.node.lacksRoom = null;
    expect((await waitForSettledDeployment(service, 'bot')).errors).toEqual([]);
    expect(await findWait()).toBeUndefined();
    const { deployments } = await service.client.listDeployments({ params: { agentName: 'bot' }, query: {} });
    expect(deployments).toMatchObject([{ contentHash: digest, image: { reference: image, digest } }]);

    const sessionId = await startAgentSession(service, 'bot');
    await expect.poll(findClaimed, { timeout: 10_000 }).toHaveLength(1);
    await endSessions(sessionId);
  });

  it('starts instances of another organization while those of one wait for quota, which then start, too', {
    timeout: 60_000,
  }, async () => {
    const { id } = await getAgent();
    const message = 'pods "bot" is forbidden: exceeded quota: bots';
    const refusal: FakeFault = {
      matches: ({ method, path, content }) => method === 'POST' && path.endsWith('/pods') && content.includes(id),
      times: Number.POSITIVE_INFINITY,
      act: { status: 403, message, reason: 'Forbidden' },
    };
    cluster.server.faults.push(refusal);
    const waiting: string[] = [];
    while (waiting.length <= startsAtOnce) waiting.push(await startAgentSession(service, 'bot'));
    await expect.poll(findWait, { timeout: 10_000 }).toBe(`the quota is used up: ${message}`);

    const { privateKey, publicKey, close } = await insertSecondOrganization(service);
    onTestFinished(close);
    const createClient = (key: string) => createApiClient({ origin: service.url, key });
    const other = { ...service, publicKey, client: createClient(privateKey), publicClient: createClient(publicKey) };
    await other.client.createAgent({ body: { serviceName: 'bot', image } });
    expect((await waitForSettledDeployment(other, 'bot')).errors).toEqual([]);
    const sessionId = await startAgentSession(other, 'bot');
    expect(await readVersion(other, sessionId)).toBe('one');
    await stopAgentSession(other, 'bot', sessionId);
    await waitForSessionEnd(other, 'bot', sessionId);

    refusal.times = 0;
    await endSessions(...waiting);
    expect(await findWait()).toBeUndefined();
  });

  it('is ready while the API server does not respond, and starts sessions: at once in a ready pod, others afterwards', {
    timeout: 60_000,
  }, async () => {
    const body = { autoScaling: { minAgents: 1, maxAgents: 10 } };
    await service.client.updateAgent({ params: { agentName: 'bot' }, body });
    expect((await waitForSettledDeployment(service, 'bot')).errors).toEqual([]);
    await expect.poll(async () => (await getAgent()).idleInstanceCount, { timeout: 10_000 }).toBe(1);
    const away: FakeFault = { matches: () => true, times: Number.POSITIVE_INFINITY, act: 'no-response' };
    cluster.server.faults.push(away);
    cluster.server.dropWatches();
    const warm = await startAgentSession(service, 'bot');
    expect(await readVersion(service, warm)).toBe('one');
    const cold = await startAgentSession(service, 'bot');
    await expect.poll(findWait, { timeout: 10_000 }).toContain('does not respond');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await readMetrics()).toContain('bothost_runtime_connected 0\n');
    expect(await readVersion(service, warm)).toBe('one');
    away.times = 0;
    await endSessions(cold, warm);
    await expect.poll(readMetrics).toContain('bothost_runtime_connected 1\n');
  });

  it.each(['relayed', 'proxied'])(
    'ends a %s WebSocket once the end of its pod is reported, after all messages to a slow client',
    { timeout: 40_000 },
    async (way) => {
      const socketOf = async (query = '') => {
        if (way === 'proxied') {
          const sessionId = await startAgentSession(service, 'bot');
          const url = sessionUrl(service, 'bot', sessionId, '/socket').replace('http', 'ws');
          return { sessionId, socket: new WebSocket(`${url}?access_token=${service.publicKey}${query}`) };
        }
        const { sessionId, url } = await startWebSocketSession(service, 'bot');
        return { sessionId, socket: new WebSocket(url + query) };
      };
      const slow = (await socketOf('&flood=1')).socket;
      await once(slow, 'open');
      slow.pause();
      let received = 0;
      slow.on('message', () => {
        received += 1;
      });
      const { sessionId, socket } = await socketOf();
      await once(socket, 'open');
      const closed = [once(socket, 'close'), once(slow, 'close')];
      await losePods(2);
      await closed[0];
      slow.resume();
      expect([(await closed[1])?.[0], received]).toEqual([1000, 512]);
      expect(await waitForSessionEnd(service, 'bot', sessionId)).toMatchObject({ completionStatus: 'HTTP_ERROR' });
      await expect.poll(findClaimed, { timeout: 10_000 }).toEqual([]);
    },
  );

  it.each(['a request', 'a WebSocket'])(
    'refuses %s that a bot has not answered, once the end of its pod is reported',
    { timeout: 40_000 },
    async (kind) => {
      const sessionId = await startAgentSession(service, 'bot');
      const upgrade = kind === 'a request' ? {} : { connection: 'upgrade', upgrade: 'websocket' };
      const sent = request(
        sessionUrl(service, 'bot', sessionId, '/silent'),
        createBearerTokenHeaders(service.publicKey, upgrade),
      ).end();
      const answered = once(sent, 'response');
      await losePods(1);
      const [answer] = await answered;
      expect([answer.statusCode, await json(answer)]).toMatchObject([502, { info: expect.any(String) }]);
      await expect.poll(findClaimed, { timeout: 10_000 }).toEqual([]);
    },
  );
});
