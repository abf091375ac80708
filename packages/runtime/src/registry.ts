import type { DockerRuntimeOptions } from './docker/docker-runtime.ts';
import type { KubernetesRuntimeOptions } from './kubernetes/kubernetes-runtime.ts';
import type { ProcessRuntimeOptions } from './process/options.ts';
import type { RuntimeDriver } from './runtime.ts';

export const runtimeKinds = ['process', 'docker', 'kubernetes'] as const;
export type RuntimeKind = (typeof runtimeKinds)[number];

type DriverOptions = {
  readonly process: ProcessRuntimeOptions;
  readonly docker: DockerRuntimeOptions;
  readonly kubernetes: KubernetesRuntimeOptions;
};

/** All runtime drivers. The files of a driver are imported when it is used. */
export const runtimes: { readonly [Kind in RuntimeKind]: RuntimeDriver<DriverOptions[Kind]> } = {
  process: {
    traits: { accepts: new Set(['directory', 'build']), reachesLoopback: true, sampleSeconds: 1, startsAtOnce: null },
    prepareServer: async () => (await import('./process/containment/cgroup-host.ts')).enterServerCgroup(),
    open: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
  docker: {
    traits: { accepts: new Set(['image']), reachesLoopback: false, sampleSeconds: 5, startsAtOnce: null },
    open: async (options) => (await import('./docker/docker-runtime.ts')).createDockerRuntime(options),
  },
  kubernetes: {
    // A node starts only a few pods per second.
    traits: { accepts: new Set(['image']), reachesLoopback: false, sampleSeconds: 10, startsAtOnce: 32 },
    open: async (options) => (await import('./kubernetes/kubernetes-runtime.ts')).createKubernetesRuntime(options),
  },
};
