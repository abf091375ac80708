import type { ProcessRuntimeOptions } from './process/options.ts';
import type { RuntimeDriver } from './runtime.ts';

type RuntimeDrivers = {
  readonly process: RuntimeDriver<ProcessRuntimeOptions>;
};
export type RuntimeKind = keyof RuntimeDrivers;

/** All runtime drivers. The files of a driver are imported when it is used. */
export const runtimes: RuntimeDrivers = {
  process: {
    traits: { accepts: new Set(['directory', 'build']), sampleSeconds: 1 },
    prepareServer: async () => (await import('./process/containment/cgroup-host.ts')).enterServerCgroup(),
    open: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
};
