import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKubernetesRuntime, type KubernetesRuntimeOptions } from '../../src/kubernetes/kubernetes-runtime.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { RuntimeSetup } from '../conformance/fixture.ts';
import { buildNodeImage, runDocker } from '../docker/engine.ts';
import { createTestRuntimeOptions } from '../test-options.ts';
import { clusterKubeconfig, clusterRegistry, findPodProcesses } from './cluster.ts';
import type { FakeCluster } from './fake-cluster.ts';

/** A host id for each data directory, so that tests do not touch the pods of others. */
export const getTestHostId = (dataDirectory: string) =>
  createHash('sha256').update(dataDirectory).digest('hex').slice(0, 32);

export function openKubernetesRuntime(
  dataDirectory: string,
  options: Partial<KubernetesRuntimeOptions> & Pick<KubernetesRuntimeOptions, 'kubeconfig'>,
): Promise<Runtime> {
  const { logger, now, removeTree, path } = createTestRuntimeOptions(dataDirectory);
  return createKubernetesRuntime({
    dataDirectory,
    hostId: getTestHostId(dataDirectory),
    logger,
    now,
    removeTree,
    path,
    outputLimitBytes: 1024 * 1024,
    apiServer: null,
    namespace: null,
    readsUsage: true,
    allowsLocalImages: true,
    instanceDiskBytes: 1024 ** 3,
    capabilities: [],
    podTemplate: null,
    ...options,
  });
}

const noProjects = {
  countBuildProcesses: async () => 0,
  attacks: async () => [],
  privateFiles: async () => [],
  keptProjects: async () => [],
  keptDownloads: async () => [],
};

const commonSetup = {
  enforcesLimits: true,
  sharesCpu: true,
  lacksConversationFiles: 'not applicable: the files of a bot are in its pod',
  timesUnattendedOutput: true,
} as const;

export function createFakeClusterSetup({ server, node, kubeconfig }: FakeCluster): RuntimeSetup {
  return {
    ...commonSetup,
    open: (dataDirectory) =>
      openKubernetesRuntime(dataDirectory, { kubeconfig, getKubeletOrigin: () => server.origin }),
    probe: () => ({
      ...noProjects,
      countProcesses: async (instanceId) => node.listProcesses(instanceId).length,
      kill: async (instanceId, signal) => node.kill(instanceId, signal),
    }),
    makeBot: async (files, directory) => {
      await writeBotFiles(files, directory);
      const name = createHash('sha256').update(directory).digest('hex').slice(0, 12);
      const reference = `registry.test/bots/${name}:1`;
      node.images.set(reference, { directory });
      return { kind: 'image', reference, organizationId: 'acme' };
    },
  };
}

/** Bots are images in the registry of the cluster. */
export function createClusterSetup(getNamespace: () => string): RuntimeSetup {
  return {
    ...commonSetup,
    open: (dataDirectory) =>
      openKubernetesRuntime(dataDirectory, {
        kubeconfig: clusterKubeconfig,
        namespace: getNamespace(),
        allowsLocalImages: false,
      }),
    probe: () => ({
      ...noProjects,
      countProcesses: async (instanceId) => findPodProcesses(instanceId).length,
      kill: async (instanceId, signal) => {
        const [bot] = findPodProcesses(instanceId);
        if (bot === undefined) throw new Error(`Instance ${instanceId} has no running bot.`);
        process.kill(bot, signal);
      },
    }),
    makeBot: async (files, directory) => {
      const id = (await buildNodeImage(files, directory)).slice('sha256:'.length);
      const reference = `${clusterRegistry}/bots/${id.slice(0, 12)}:1`;
      await runDocker('tag', id, reference);
      await runDocker('push', '-q', reference);
      return { kind: 'image', reference, organizationId: 'acme' };
    },
  };
}

async function writeBotFiles(files: Readonly<Record<string, string>>, directory: string): Promise<void> {
  await mkdir(directory);
  for (const [path, content] of Object.entries(files)) await writeFile(join(directory, path), content);
}
