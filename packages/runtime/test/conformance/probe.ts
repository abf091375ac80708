/**
 * How the suite looks at a driver's instances from outside, whether a server runs or not. Only the driver knows what a
 * process, a container or a pod is; the suite names instances.
 */
export type Probe = {
  /** Processes of an instance that run: the bot, its children, and what the driver runs beside them. 0 after its end. */
  readonly countProcesses: (instanceId: string) => Promise<number>;
  /** Processes that install and build projects. */
  readonly countBuildProcesses: () => Promise<number>;
  /** Sends a signal to the bot itself, not to its children. */
  readonly kill: (instanceId: string, signal: NodeJS.Signals) => Promise<void>;
  /** What another bot could try against an instance. */
  readonly attacks: (instanceId: string) => Promise<readonly Attack[]>;
  /** Files, as bots name them, in which the driver keeps what it knows of an instance: no bot may read them. */
  readonly privateFiles: (instanceId: string) => Promise<readonly string[]>;
  /** Names of what is kept of projects: prepared ones, what they share, and unfinished builds. */
  readonly keptProjects: () => Promise<readonly string[]>;
  /** Names of downloads that are kept for later builds. */
  readonly keptDownloads: () => Promise<readonly string[]>;
};

/** Code that a bot evaluates, and the error code that it must fail with. `fs` is Node's module. */
export type Attack = { readonly code: string; readonly error: string };
