import type { RuntimeOptions } from '../runtime.ts';
import type { ContainmentKind } from './containment/containment.ts';

/**
 * The driver keeps `instances` and `projects` in the data directory, through which the accounts of bots must be able to
 * pass, and looks for `node` in `path` when this process' own is out of their reach.
 */
export type ProcessRuntimeOptions = RuntimeOptions & {
  /** Default: the program that runs this process. */
  readonly interpreter?: string | undefined;
  /** The package of the host shim for Python bots. Default: the one that came with the service. */
  readonly shimPackage?: string | undefined;
  /** How often it looks at what has no event of its own. Default 1000. */
  readonly roundMilliseconds?: number | undefined;
  /** Default: the best that this machine allows. Tests ask for each. */
  readonly containment?: ContainmentKind | undefined;
  /** Where the servers of this machine agree on user ids. */
  readonly reservationsDirectory?: string | undefined;
};
