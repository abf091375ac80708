/**
 * How the suite observes a driver's instances from outside, whether a server runs or not. Only the driver knows processes,
 * containers or pods; the suite names instances.
 */
export type Probe = {
  /** Running processes of an instance: the bot, its children, and helpers of the driver. 0 after its end. */
  readonly countProcesses: (instanceId: string) => Promise<number>;
  /** Processes that install and build projects. */
  readonly countBuildProcesses: () => Promise<number>;
  /** Sends a signal to the bot itself, not to its children. */
  readonly kill: (instanceId: string, signal: NodeJS.Signals) => Promise<void>;
  /** Attacks of another bot on an instance. */
  readonly attacks: (instanceId: string) => Promise<readonly Attack[]>;
  /** The driver's own files of an instance, which no bot may read, as paths for bots. */
  readonly privateFiles: (instanceId: string) => Promise<readonly string[]>;
  /** Names of prepared projects, shared environments and unfinished builds. */
  readonly keptProjects: () => Promise<readonly string[]>;
  /** Names of download caches. */
  readonly keptDownloads: () => Promise<readonly string[]>;
};

/** Code that a bot evaluates, and the error code that it must fail with. `fs` is Node's module. */
export type Attack = { readonly code: string; readonly error: string };
