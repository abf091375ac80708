import { readFile } from 'node:fs/promises';
import { expect, inject, it } from 'vitest';
import { noEngine } from '../../../runtime/test/docker/engine.ts';
import type { ApiServerRequest } from '../../../runtime/test/kubernetes/api-server-proxy.ts';
import { noCluster } from '../../../runtime/test/kubernetes/cluster.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { defineAcceptanceTests } from '../image-region/acceptance-tests.ts';
import { findBot, waitUntilRemoved } from '../image-region/image-region.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
} from '../support/client.ts';
import { waitForSettledDeployment } from '../support/deploys.ts';
import { type ClusterPlatform, openClusterPlatform } from './cluster-platform.ts';

/** Seconds in which the service samples the usage of a session at least once. */
const sampledSeconds = 25;
const maxWritesPerSession = 6;
/** How long the API server is away: a minute in the long run of docs/testing.md. */
const awayMs = inject('kills') < 30 ? 3_000 : 60_000;
/** Milliseconds until an agent shows why its pods wait. */
const visibleMs = 10_000;
/** Writes 1.1 GiB, which is more than the default of `BOTHOST_INSTANCE_DISK_MB`. */
const fillDisk = `const { openSync, writeSync } = require('node:fs');
const [file, part] = [openSync('/tmp/large', 'w'), Buffer.alloc(2 ** 24)];
for (let count = 0; count < 70; count += 1) writeSync(file, part); true`;

describeUnless(noCluster ?? noEngine, 'the service with a Kubernetes cluster', () => {
  let platform: ClusterPlatform;
  const open = async () => {
    platform = await openClusterPlatform();
    return platform;
  };

  defineAcceptanceTests(open, (getRegion) => {
    it('without the right to read nodes/metrics, sessions have no metrics and the log has one warning', async () => {
      const region = getRegion();
      await region.end('SIGKILL');
      await region.start({ KUBECONFIG: platform.kubeconfigWithoutUsage });
      const sessionId = await startAgentSession(region, 'parrot', { exitAfterSeconds: sampledSeconds });
      expect(await waitForSessionEnd(region, 'parrot', sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
        resourceMetrics: null,
      });
      const log = await readFile(region.service.logFile, 'utf8');
      expect(
        log.match(/usage of instances is not available: grant the right to get \\"nodes\/metrics\\"/g),
      ).toHaveLength(1);
    });

    it(`a session takes at most ${maxWritesPerSession} writes, and the service lists pods only when it starts`, async () => {
      const region = getRegion();
      const { requests } = platform.proxy;
      const listObjects = async () => {
        const pod = (await findBot(region, 'puppet')).replace('pod/', '');
        return pod === '' ? [] : (await platform.namespace.list()).filter((object) => object.includes(pod));
      };
      // The only pod, which is warm, and its two Secrets.
      const settle = () => expect.poll(listObjects).toHaveLength(3);
      await region.deploy('puppet', { autoScaling: { minAgents: 1, maxAgents: 5 } });
      await settle();
      const from = requests.length;
      const sessions = 5;
      for (let count = 0; count < sessions; count++) {
        const sessionId = await startAgentSession(region, 'puppet');
        await stopAgentSession(region, 'puppet', sessionId);
        await waitForSessionEnd(region, 'puppet', sessionId);
      }
      await settle();
      const writes = requests.slice(from).filter(({ method }) => method !== 'GET');
      expect(writes.length / sessions).toBeLessThanOrEqual(maxWritesPerSession);
      expect(requests.filter(isList)).toHaveLength(region.service.processes.length);
    });

    it.each([
      ['exceeded quota', ['create', 'quota', 'none', '--hard=pods=0'], ['delete', 'quota', 'none']],
      ['were unschedulable', ['cordon', 'local'], ['uncordon', 'local']],
      [
        'violates PodSecurity',
        ['label', 'namespace', 'NAMESPACE', 'pod-security.kubernetes.io/enforce=restricted'],
        ['label', 'namespace', 'NAMESPACE', 'pod-security.kubernetes.io/enforce-'],
      ],
    ])(
      'the agent shows "%s" while a pod waits for that, and then its session starts',
      async (cause, begin, end) => {
        const region = getRegion();
        const { name, kubectl } = platform.namespace;
        const run = (words: readonly string[]) => kubectl(...words.map((word) => word.replace('NAMESPACE', name)));
        await waitUntilRemoved(region, 'parrot');
        await run(begin);
        let sessionId: string;
        try {
          sessionId = await startAgentSession(region, 'parrot');
          const describe = async () => JSON.stringify((await getAgent('parrot')).conditions);
          await expect.poll(describe, { timeout: visibleMs }).toContain(cause);
        } finally {
          await run(end);
        }
        await endSession(sessionId);
      },
      180_000,
    );

    it.each([
      ['does not exist', (image: string) => ({ image: `${image}0` }), 'PCC_IMAGE_NOT_FOUND'],
      ['is private', (image: string) => ({ image, imagePullSecretSet: null }), 'PCC_IMAGE_PULL_UNAUTHORIZED'],
    ])('a deployment whose image %s fails, and the former one keeps serving', async (_, change, code) => {
      const region = getRegion();
      const agentName = 'versioned';
      const image = await region.pushBot(agentName);
      const { activeDeploymentId } = await region.deploy(agentName, { image }).then(() => getAgent(agentName));
      await region.client.updateAgent({ params: { agentName }, body: change(image) });
      const agent = await waitForSettledDeployment(region, agentName);
      expect(agent).toMatchObject({ activeDeploymentId, errors: [{ code }] });
      const sessionId = await startAgentSession(region, agentName);
      expect(await evaluateJavaScriptInBot(region, agentName, sessionId, '"serves"')).toBe('serves');
      await stopAgentSession(region, agentName, sessionId);
      await waitForSessionEnd(region, agentName, sessionId);
    });

    it('a session whose bot exceeds its disk limit ends with this reason', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'puppet');
      await evaluateJavaScriptInBot(region, 'puppet', sessionId, fillDisk);
      const readSession = () => region.client.getSession({ params: { agentName: 'puppet', sessionId } });
      const detail = expect.objectContaining({ reason: 'disk', diskLimit: expect.stringContaining('storage') });
      const exit = expect.objectContaining({ eventCode: 'INSTANCE_EXITED', detail });
      // The kubelet measures the disk about every ten seconds.
      const ended = { completionStatus: 'HTTP_ERROR', events: expect.arrayContaining([exit]) };
      await expect.poll(readSession).toMatchObject(ended);
    });

    it(
      'while the API server is away, sessions start in ready pods, and others start afterwards',
      async () => {
        const region = getRegion();
        await region.deploy('parrot', { imagePullSecretSet: null, autoScaling: { minAgents: 1, maxAgents: 5 } });
        await expect.poll(async () => (await getAgent('parrot')).idleInstanceCount).toBe(1);
        await platform.proxy.stop();
        const stoppedAt = Date.now();
        let sessionIds: readonly string[];
        try {
          const warm = await startAgentSession(region, 'parrot');
          expect(await hello(warm)).toContain(warm);
          sessionIds = [warm, await startAgentSession(region, 'parrot')];
          await expect.poll(() => Date.now() - stoppedAt, { timeout: 2 * awayMs }).toBeGreaterThan(awayMs);
          expect((await fetch(`${region.url}/readyz`)).status).toBe(200);
          expect(await hello(warm)).toContain(warm);
        } finally {
          await platform.proxy.start();
        }
        for (const sessionId of sessionIds) await endSession(sessionId);
      },
      4 * awayMs + 120_000,
    );

    const getAgent = (agentName: string) => getRegion().client.getAgent({ params: { agentName } });

    async function hello(sessionId: string): Promise<string> {
      const url = sessionUrl(getRegion(), 'parrot', sessionId, '/hello');
      return (await fetch(url, createBearerTokenHeaders(getRegion().publicKey))).text();
    }

    /** Stops a session of the parrot once its bot has it, which may take the longest pause between two requests for a pod. */
    async function endSession(sessionId: string): Promise<void> {
      await expect.poll(() => hello(sessionId)).toContain(sessionId);
      await stopAgentSession(getRegion(), 'parrot', sessionId);
      const ended = { completionStatus: 'SESSION_STOPPED' };
      expect(await waitForSessionEnd(getRegion(), 'parrot', sessionId)).toMatchObject(ended);
    }
  });
});

const isList = ({ method, path, query }: ApiServerRequest) =>
  method === 'GET' && /\/(?:pods|secrets)$/.test(path) && !query.has('watch');
