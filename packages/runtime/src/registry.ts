import type { Runtime, RuntimeOptions } from './runtime.ts';

export type RuntimeKind = 'process';

/** Makes the driver of a kind, or rejects with `RuntimeUnavailable`. Imported when asked for: some stand on heavy clients. */
export const runtimes: Readonly<Record<RuntimeKind, (options: RuntimeOptions) => Promise<Runtime>>> = {
  process: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
};
