/**
 * Observes the instances of a runtime driver, whether a server is running or not. Identifies instances by their ids, because an
 * instance may consist of processes, a container or a pod.
 */
export type InstanceProbe = {
  /**
   * The number of running processes of an instance: the bot, its children, and helpers of the driver. It is 0 after the end of
   * the instance.
   */
  readonly countProcesses: (instanceId: string) => Promise<number>;
  /** The number of processes that install and build projects. */
  readonly countBuildProcesses: () => Promise<number>;
  /** Sends a signal to the bot, but not to its children. */
  readonly kill: (instanceId: string, signal: NodeJS.Signals) => Promise<void>;
  readonly attacks: (instanceId: string) => Promise<readonly IsolationAttack[]>;
  /** Files that the runtime driver keeps for an instance, with their paths as bots see them. No bot may read these files. */
  readonly privateFiles: (instanceId: string) => Promise<readonly string[]>;
  /** The names of prepared projects, shared environments and unfinished builds. */
  readonly keptProjects: () => Promise<readonly string[]>;
  readonly keptDownloads: () => Promise<readonly string[]>;
};

/** JavaScript that a bot evaluates, and the error code with which it must fail. `fs` is Node's module. */
export type IsolationAttack = { readonly code: string; readonly error: string };
