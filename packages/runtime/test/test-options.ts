import { mkdirSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { ProcessRuntimeOptions } from '../src/process/options.ts';
import { openTreeRemover } from '../src/remove-tree.ts';
import type { RuntimeLogger } from '../src/runtime.ts';

const silentLogger: RuntimeLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Returns options for the process driver under test: high limits of memory, CPU, time and output, and no limits of disk space.
 * Creates the data directory if it is missing.
 */
export function createTestRuntimeOptions(dataDirectory: string, logger = silentLogger): ProcessRuntimeOptions {
  // Accounts of bots must be able to pass through the data directory.
  mkdirSync(dataDirectory, { recursive: true, mode: 0o711 });
  return {
    dataDirectory,
    hostId: 'host',
    logger,
    now: () => new Date(),
    path: '/usr/bin:/bin',
    outputLimitBytes: 64 * 1024 ** 2,
    retainedMemoryBytes: totalmem() / 4,
    building: {
      memoryBytes: 4 * 1024 ** 3,
      cpuMillicores: 2000,
      timeoutMs: 10 * 60 * 1000,
      environment: {},
      installsUv: false,
    },
    disk: null,
    removeTree: openTreeRemover({ quarantineDirectory: join(dataDirectory, 'quarantine'), logger }),
  };
}
