import type { DockerRuntimeOptions } from './docker/docker-runtime.ts';
import type { KubernetesRuntimeOptions } from './kubernetes/kubernetes-runtime.ts';
import type { ProcessRuntimeOptions } from './process/options.ts';
import type { RuntimeDriver } from './runtime.ts';

type RuntimeDrivers = {
  readonly process: RuntimeDriver<ProcessRuntimeOptions>;
  readonly docker: RuntimeDriver<DockerRuntimeOptions>;
  readonly kubernetes: RuntimeDriver<KubernetesRuntimeOptions>;
};
export type RuntimeKind = keyof RuntimeDrivers;

/** All runtime drivers. The files of a driver are imported when it is used. */
export const runtimes: RuntimeDrivers = {
  process: {
    traits: { accepts: new Set(['directory', 'build']), sampleSeconds: 1, startsAtOnce: null },
    prepareServer: async () => (await import('./process/containment/cgroup-host.ts')).enterServerCgroup(),
    open: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
  docker: {
    traits: { accepts: new Set(['image']), sampleSeconds: 5, startsAtOnce: null },
    open: async (options) => (await import('./docker/docker-runtime.ts')).createDockerRuntime(options),
  },
  kubernetes: {
    // A node starts only a few pods per second.
    traits: { accepts: new Set(['image']), sampleSeconds: 10, startsAtOnce: 32 },
    open: async (options) => (await import('./kubernetes/kubernetes-runtime.ts')).createKubernetesRuntime(options),
  },
};
