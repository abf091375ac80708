import type { ProcessRuntimeOptions } from '../../src/process/options.ts';
import { createProcessRuntime } from '../../src/process/process-runtime.ts';
import type { Runtime } from '../../src/runtime.ts';
import { createTestRuntimeOptions } from '../test-options.ts';

/** Opens the process driver. `options` override those of `createTestRuntimeOptions`. */
export function openProcessRuntime(
  options: Partial<ProcessRuntimeOptions> & { readonly dataDirectory: string },
): Promise<Runtime> {
  return createProcessRuntime({ ...createTestRuntimeOptions(options.dataDirectory, options.logger), ...options });
}
