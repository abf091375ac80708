import type { BuildLimits, DirectoryTreeRemover, DiskLimits, RuntimeOptions } from '../runtime.ts';
import { systemUidReservationsDirectory } from './containment/accounts.ts';
import type { ContainmentKind } from './records/contained-processes.ts';

/** If bots have their own user accounts, these need search permission (mode `x`) for the data directory and its parents. */
export type ProcessRuntimeOptions = RuntimeOptions & {
  /** `PATH`, `LANG` and `TZ` of the service, the only variables of its environment that bots can see. */
  readonly path: string;
  readonly language?: string | undefined;
  readonly timeZone?: string | undefined;
  /** Memory limit in bytes for everything that the driver keeps to start instances faster. */
  readonly retainedMemoryBytes: number;
  readonly building: BuildLimits;
  /** Null means that disk space is not limited. */
  readonly disk: DiskLimits | null;
  readonly removeTree: DirectoryTreeRemover;
  /** The `node` that runs bots. Default: that of this process, or one in `path` if the bots' accounts cannot run it. */
  readonly interpreter?: string | undefined;
  /** Directory of the package that contains the Python host shim. Default: `@bothost/python-shim`. */
  readonly shimPackage?: string | undefined;
  /** Bytes of downloads to keep per organization. Default: 10 GiB, because uv stores large packages unpacked. */
  readonly cacheLimitBytes?: number | undefined;
  /** Milliseconds between checks for changes without a kernel event, such as excessive memory use. Default: 1000. */
  readonly pollMs?: number | undefined;
  /** How instances are contained. Default: the strongest containment that this machine allows. */
  readonly containment?: ContainmentKind | undefined;
  /** Milliseconds that a fork server may take to import a bot. Default: 60000. */
  readonly forkImportMs?: number | undefined;
  /** Directory of reserved user ids, shared by all servers on this machine. Default: `systemUidReservationsDirectory`. */
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
    reservationsDirectory: options.reservationsDirectory ?? systemUidReservationsDirectory,
  };
}
