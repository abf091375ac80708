import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeCluster, startFakeCluster } from '../../runtime/test/kubernetes/fake-cluster.ts';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
} from './support/client.ts';
import { createVersionedBot, waitForSettledDeployment } from './support/deploys.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';

const image = 'registry.test/team/bot:1';
const digest = `sha256:${'a'.repeat(64)}`;

describe('the service with a fake cluster', () => {
  let directory: string;
  let cluster: FakeCluster;
  let service: TestServer;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-image-'));
    for (const [path, content] of Object.entries(createVersionedBot('one')))
      await writeFile(join(directory, path), content);
    cluster = await startFakeCluster();
    cluster.node.images.set(image, { directory, main: 'main.js', digest });
    service = await startTestServer({
      environment: { BOTHOST_RUNTIME: 'kubernetes', KUBECONFIG: cluster.kubeconfig, BOTHOST_KUBERNETES_USAGE: 'off' },
    });
  });
  afterAll(async () => {
    await service.close();
    expect(cluster.server.pods.size).toBe(0);
    await cluster.close();
    await rm(directory, { recursive: true });
  });

  it('shows why the first pod waits, and serves a session in a pod once a node has room', async () => {
    cluster.node.lacksRoom = '0/3 nodes are available: 3 Insufficient cpu.';
    await service.client.createAgent({ body: { serviceName: 'bot', image } });
    const findWait = async () => {
      const { conditions } = await service.client.getAgent({ params: { agentName: 'bot' } });
      return conditions.find(({ reason }) => reason === 'InstancesWait')?.message;
    };
    const message = 'no node can run the pod now: 0/3 nodes are available: 3 Insufficient cpu.';
    await expect.poll(findWait, { timeout: 10_000 }).toBe(message);
    cluster.node.lacksRoom = null;
    expect((await waitForSettledDeployment(service, 'bot')).errors).toEqual([]);
    expect(await findWait()).toBeUndefined();
    const { deployments } = await service.client.listDeployments({ params: { agentName: 'bot' }, query: {} });
    expect(deployments).toMatchObject([{ contentHash: digest, image: { reference: image, digest } }]);

    const sessionId = await startAgentSession(service, 'bot');
    const url = sessionUrl(service, 'bot', sessionId, '/version');
    expect(await (await fetch(url, createBearerTokenHeaders(service.publicKey))).text()).toBe('one');
    const claimed = () =>
      [...cluster.server.pods.values()].filter(({ metadata }) => metadata.labels?.['bothost.dev/claimed'] === 'true');
    await expect.poll(claimed).toHaveLength(1);
    await stopAgentSession(service, 'bot', sessionId);
    expect(await waitForSessionEnd(service, 'bot', sessionId)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
  });
});
