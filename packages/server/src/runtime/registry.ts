import type { Runtime, RuntimeOptions } from './runtime.ts';

export type RuntimeKind = 'process';

/** Makes the driver of a kind. Imported when it is asked for, as some stand on heavy clients. */
export const runtimes: Readonly<Record<RuntimeKind, (options: RuntimeOptions) => Promise<Runtime>>> = {
  process: async (options) => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
};
