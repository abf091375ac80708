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
    traits: {
      accepts: new Set(['directory', 'build']),
      reachesLoopback: true,
      sampleSeconds: 1,
      startsAtOnce: null,
      isUsageOptional: false,
      isolatesOnlyAsRoot: true,
      outage: {
        reason: 'The process driver does not respond.',
        nextStep: 'Read the log of the service, and restart the service.',
      },
    },
    prepareServer: async () => (await import('./process/containment/cgroup-host.ts')).enterServerCgroup(),
    open: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
  docker: {
    traits: {
      accepts: new Set(['image']),
      reachesLoopback: false,
      sampleSeconds: 5,
      startsAtOnce: null,
      isUsageOptional: false,
      isolatesOnlyAsRoot: false,
      outage: {
        reason: 'The Docker engine does not respond.',
        nextStep:
          'Start the engine, and check BOTHOST_DOCKER_HOST: docker info must work for the account of the service.',
      },
    },
    open: async (options) => (await import('./docker/docker-runtime.ts')).createDockerRuntime(options),
  },
  kubernetes: {
    traits: {
      accepts: new Set(['image']),
      reachesLoopback: false,
      sampleSeconds: 10,
      // A node starts only a few pods per second.
      startsAtOnce: 32,
      isUsageOptional: true,
      isolatesOnlyAsRoot: false,
      outage: {
        reason: 'The API server of the cluster has not responded for 90 seconds.',
        nextStep: 'Check the API server, and the network between it and the service. Bots keep running meanwhile.',
      },
    },
    open: async (options) => (await import('./kubernetes/kubernetes-runtime.ts')).createKubernetesRuntime(options),
  },
};
