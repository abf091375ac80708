import type { RuntimeDriver } from './runtime.ts';

export type RuntimeKind = 'process';

/** All runtime drivers. The files of a driver are imported when it is used. */
export const runtimes: Readonly<Record<RuntimeKind, RuntimeDriver>> = {
  process: {
    prepareServer: async () => (await import('./process/containment/cgroup-host.ts')).enterServerCgroup(),
    open: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
};
