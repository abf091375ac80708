import type { RuntimeOptions } from '../runtime.ts';
import { systemReservationsDirectory } from './containment/accounts.ts';
import type { ContainmentKind } from './records/contained-processes.ts';

/**
 * Options of the process driver. The accounts of bots must be able to pass through the data directory. If these accounts cannot
 * run this process's `node`, the driver searches `path` for another one.
 */
export type ProcessRuntimeOptions = RuntimeOptions & {
  /** Path of the `node` that runs bots. Default: the `node` of this process. */
  readonly interpreter?: string | undefined;
  /** Directory of the package that contains the Python host shim. Default: `@bothost/python-shim`. */
  readonly shimPackage?: string | undefined;
  /** Bytes of downloads to keep per organization. Default: 10 GiB, because uv stores large packages unpacked. */
  readonly cacheLimitBytes?: number | undefined;
  /** Milliseconds between two checks for changes that the kernel does not report. Default: 1000. */
  readonly pollMs?: number | undefined;
  /** How instances are contained. Default: the strongest containment that this machine allows. */
  readonly containment?: ContainmentKind | undefined;
  /** Milliseconds that a fork server may take to import a bot. Default: 60000. */
  readonly forkImportMs?: number | undefined;
  /** Directory of reserved user ids, shared by all servers on this machine. Default: `systemReservationsDirectory`. */
  readonly reservationsDirectory?: string | undefined;
};

export function applyDefaultOptions(options: ProcessRuntimeOptions) {
  return {
    ...options,
    interpreter: options.interpreter ?? process.execPath,
    language: options.language,
    timeZone: options.timeZone,
    cacheLimitBytes: options.cacheLimitBytes ?? 10 * 1024 ** 3,
    pollMs: options.pollMs ?? 1000,
    forkImportMs: options.forkImportMs ?? 60_000,
    reservationsDirectory: options.reservationsDirectory ?? systemReservationsDirectory,
  };
}
