import type { Runtime, RuntimeOptions } from './runtime.ts';

export type RuntimeKind = 'process';

/**
 * Opens a driver. Rejects with `RuntimeUnavailable` if it cannot work here. Drivers are imported on demand, because
 * their clients can be large.
 */
export const runtimes: Readonly<Record<RuntimeKind, (options: RuntimeOptions) => Promise<Runtime>>> = {
  process: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
};
