import type { RuntimeOptions } from '../runtime.ts';
import type { ContainmentKind } from './containment/containment.ts';

/**
 * Options of the process driver, which keeps instances, projects, environments, caches and builds in the data
 * directory. The accounts of bots must be able to pass through that directory. If they cannot run this process's
 * `node`, the driver searches `path` for another one.
 */
export type ProcessRuntimeOptions = RuntimeOptions & {
  /** Path of the `node` that runs bots. Default: the `node` of this process. */
  readonly interpreter?: string | undefined;
  /** Directory of the host shim's package. Default: `@bothost/python-shim`. */
  readonly shimPackage?: string | undefined;
  /** Bytes of downloads to keep per organization. Default: 10 GiB, because uv stores large packages unpacked. */
  readonly cacheLimitBytes?: number | undefined;
  /** Interval of checks for which the kernel has no events. Default 1000. */
  readonly pollMilliseconds?: number | undefined;
  /** How instances are contained. Default: the strongest containment that this machine allows. */
  readonly containment?: ContainmentKind | undefined;
  /** How long a fork server may take to import a bot. Default 60000. */
  readonly forkImportMilliseconds?: number | undefined;
  /** Directory of reserved user ids, shared by all servers of this machine. Default: `RESERVATIONS_DIRECTORY`. */
  readonly reservationsDirectory?: string | undefined;
};
