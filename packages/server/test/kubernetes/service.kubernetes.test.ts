import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { noEngine } from '../../../runtime/test/docker/engine.ts';
import type { ApiServerRequest } from '../../../runtime/test/kubernetes/api-server-proxy.ts';
import { noCluster } from '../../../runtime/test/kubernetes/cluster.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { defineAcceptanceTests } from '../image-region/acceptance-tests.ts';
import { findBot } from '../image-region/image-region.ts';
import { startAgentSession, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import { type ClusterPlatform, openClusterPlatform } from './cluster-platform.ts';

/** Seconds in which the service samples the usage of a session at least once. */
const sampledSeconds = 25;
const maxWritesPerSession = 6;

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
  });
});

const isList = ({ method, path, query }: ApiServerRequest) =>
  method === 'GET' && /\/(?:pods|secrets)$/.test(path) && !query.has('watch');
