import type { Runtime, RuntimeOptions } from './runtime.ts';

export type RuntimeKind = 'process';

/** Opens a driver, which is imported on demand. Rejects with `RuntimeUnavailableError` if it cannot run bots here. */
export const runtimes: Readonly<Record<RuntimeKind, (options: RuntimeOptions) => Promise<Runtime>>> = {
  process: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
};
