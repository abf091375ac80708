/**
 * The interface between the server and the drivers that run bots. Each driver passes the conformance suite
 * (packages/runtime/test/conformance/conformance.ts). Only drivers know pids, containers or pods.
 */

/** Limits of one instance. */
export type ResourceLimits = { readonly cpuMillicores: number; readonly memoryBytes: number };

/**
 * Where a project comes from: a directory that the operator serves, or the unpacked tree of a build. `path` is absolute. Only
 * builds of the same organization share downloads and installed packages.
 */
export type PrepareSource =
  | { readonly kind: 'directory'; readonly path: string; readonly contentHash: string }
  | { readonly kind: 'build'; readonly path: string; readonly contentHash: string; readonly organizationId: string };

/** `id`: of the build, or for a directory of the deployment. An id always has the same content. */
export type PrepareSpec = { readonly id: string; readonly source: PrepareSource };

/** Result of `prepare`. Opaque to the server, which stores it as JSON and passes it back in `InstanceSpec`. */
export type Prepared = { readonly [key: string]: string | number | boolean | null };

export type InstanceSpec = {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly prepared: Prepared;
  readonly limits: ResourceLimits;
  /** Whether the instance may be forked from a process that imported the bot before. Default true. */
  readonly forks?: boolean | undefined;
  /**
   * Variables for the bot, in addition to those of the driver (docs/bot-contract.md, "Environment"). They may be
   * secrets, so the driver calls this only when it starts a process, never for an instance that runs already. If it rejects,
   * `start` rejects with that error as its cause.
   */
  readonly environment: () => Promise<Readonly<Record<string, string>>>;
};

/** Where a ready instance serves HTTP/1.1 without TLS. */
export type InstanceAddress = { readonly host: string; readonly port: number };

/** How a driver starts the instances of a deployment. */
export type StartMethod = {
  /**
   * `module`: forks them from a process that imported the bot. `libraries`: that process imported libraries only, and each
   * instance imports the bot. `spawn`: each instance imports everything.
   */
  readonly level: 'module' | 'libraries' | 'spawn';
  /** Why it is not `module`, in words for the bot's owner. */
  readonly reason: string | null;
  /** Memory of the process that is forked, with its share of what instances use too. Null while there is none. */
  readonly memoryBytes: number | null;
};

export type RunningInstance = {
  readonly instanceId: string;
  readonly deploymentId: string;
  /** Null until the bot is ready. For an adopted instance, call `start` with the same spec to wait for it. */
  readonly address: InstanceAddress | null;
};

/** Maximum size of `InstanceExit.tail`. */
export const tailBytes = 4_096;

/** How an instance ended. Code and signal are null if unknown, for example because the supervisor was killed. */
export type InstanceExit = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /**
   * The last lines of the output, at most `tailBytes`. Of a longer line, its end: exactly that many bytes, minus up to three
   * of a character that would be split.
   */
  readonly tail: string;
  /** If the service ended it for its use of the disk: a sentence for the agent's owner that names the limit. */
  readonly diskLimit?: string | undefined;
};

export type InstanceEvent =
  | { readonly kind: 'exited'; readonly instanceId: string; readonly at: Date; readonly exit: InstanceExit }
  /** Something that an operator should know and that does not end the instance. */
  | {
      readonly kind: 'noticed';
      readonly instanceId: string;
      readonly at: Date;
      readonly notice: InstanceNotice;
      readonly detail: string;
    };

/**
 * `listens-wide`: the bot listens on more than loopback. `cpu-limit-not-enforced`, `memory-limit-sampled`: the kernel of this
 * machine does not enforce the limit. `output-dropped`: the output exceeded its limit and has a gap from now on.
 */
export type InstanceNotice = 'listens-wide' | 'cpu-limit-not-enforced' | 'memory-limit-sampled' | 'output-dropped';

/** CPU time is cumulative since the instance's start and never decreases. Memory is the working set. */
export type Usage = { readonly cpuMicroseconds: number; readonly memoryBytes: number };

/** Microseconds since the epoch. Timestamps of one server always increase, even if its clock goes back, so they order output. */
export type Timestamp = number;

/** Output up to the offset `end` had been seen at `at`. `unattended`: it was written while no server ran, some time before `at`. */
export type OutputMark = { readonly end: number; readonly at: Timestamp; readonly unattended: boolean };

export type OffsetRange = { readonly from: number; readonly to: number };

/** Standard output and error of an instance, in one file. Offsets count bytes since the instance's start. */
export type OutputFile = {
  readonly path: string;
  /** Offset of the file's first byte. */
  readonly base: number;
  /** Deleted ranges, in order: before `base`, or holes within the file. */
  readonly dropped: readonly OffsetRange[];
  /** Increasing. Read up to the last mark only, because later bytes have no time yet. */
  readonly marks: readonly OutputMark[];
  /** Later than the last mark; the output is then complete, including a last line without a break. Null while the instance runs. */
  readonly endedAt: Timestamp | null;
};

/** The output of instances: read in place while they run, moved to the caller's directory after they ended. */
export type InstanceOutputs = {
  /** Marks what all instances have written until now. All later marks are later than the returned timestamp. */
  readonly mark: () => Timestamp;
  /** Null for an unknown or forgotten instance. */
  readonly find: (instanceId: string) => Promise<OutputFile | null>;
  /** Resolves when one of the instances has output marked after `since` or has ended, or when the signal aborts. */
  readonly changed: (instanceIds: readonly string[], since: Timestamp, signal: AbortSignal) => Promise<void>;
  /** Moves the output of an ended instance to a directory, which must not exist, atomically. Idempotent. */
  readonly release: (instanceId: string, directory: string) => Promise<void>;
  /** Output that `release` moved to the directory, or null. */
  readonly findReleased: (directory: string) => Promise<OutputFile | null>;
};

export type Milliseconds = number;

/** Receives a line of a build's output. `isDetail`: the line belongs only in the full log, such as one per downloaded package. */
export type BuildOutput = (line: string, isDetail?: boolean) => void;

export interface Runtime {
  /**
   * Makes a source startable, and sends the output of installing and building to `output`, line by line. Idempotent per id: a
   * later call does nothing, and a concurrent call joins the first one and gets the output from then on. Rejects with
   * `PrepareError` if the source cannot be started, and with the signal's reason after an abort. Then nothing is left
   * running, and a later call starts from the beginning.
   */
  prepare(spec: PrepareSpec, output: BuildOutput, signal: AbortSignal): Promise<Prepared>;
  /**
   * Starts an instance and resolves when the bot is ready (docs/bot-contract.md, "Readiness"). If the instance already runs,
   * for example since before a restart of the server, it only waits for that one. Rejects with `StartError`; then nothing is
   * left running. An abort stops the instance.
   */
  start(spec: InstanceSpec, signal: AbortSignal): Promise<InstanceAddress>;
  /** Ends all processes of an instance: SIGTERM, and SIGKILL after `grace`. Resolves when none runs. Idempotent. */
  stop(instanceId: string, grace: Milliseconds): Promise<void>;
  /** All running instances, including adopted ones. */
  list(): Promise<readonly RunningInstance[]>;
  /** Events since the last watcher, then all further events. One watcher at a time. */
  watch(signal: AbortSignal): AsyncIterable<InstanceEvent>;
  /** Cumulative usage of all processes of each instance. Skips instances that do not run. */
  sample(instanceIds: readonly string[]): Promise<ReadonlyMap<string, Usage>>;
  /**
   * Bytes on disk of an organization, as last measured: what its builds left, and what its builds and instances use now. 0
   * before the first measurement, and without limits.
   */
  diskUsage(organizationId: string): Promise<number>;
  readonly outputs: InstanceOutputs;
  /** Deletes the files of an ended instance, such as output and exit status. Call it after recording its end. Idempotent. */
  forget(instanceId: string): Promise<void>;
  /** Deletes a prepared project, and what only it used. Idempotent. */
  discard(prepared: Prepared): Promise<void>;
  /**
   * Stops what is kept ready for starts of all other deployments, such as fork servers. Their instances keep running.
   * Idempotent.
   */
  retain(deploymentIds: ReadonlySet<string>): Promise<void>;
  /** By deployment, for those of which this server started an instance or adopted a fork server. */
  startMethods(): ReadonlyMap<string, StartMethod>;
  /** Releases watches and files. Instances and fork servers keep running, so `retain` comes before a final stop. */
  close(): Promise<void>;
}

/** The part of a pino logger that a driver uses. */
export type RuntimeLogger = {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};

/**
 * Removes a file or tree that a tenant may have written, whatever it contains. Never rejects: what cannot be deleted is moved
 * to a quarantine and reported to the operator. Resolves to false if something is still at the path; then its account must
 * not be given to anybody else. Idempotent.
 */
export type RemoveTree = (path: string) => Promise<boolean>;

/**
 * Limits of a build, and the variables of the service's environment that it gets. `installsUv`: whether the driver installs uv
 * from the Python package index if `path` has none. Default: no.
 */
export type BuildLimits = ResourceLimits & {
  readonly installsUv?: boolean;
  readonly timeoutMilliseconds: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** Limits of disk space. They also hold for instances that an earlier server started. */
export type DiskLimits = {
  /** What one instance may use: its own directories, and deleted files that it holds open. */
  readonly instanceBytes: number;
  /** What one build may use, including what it downloads and installs. */
  readonly buildBytes: number;
  /** What the builds and instances of one organization may use together. */
  readonly organizationBytes: number;
  /** Free space that builds and instances may not use. 0: none. */
  readonly reserveBytes: number;
};

/** Options that every driver gets. */
export type RuntimeOptions = {
  /** Absolute. A driver creates its own directories in it. */
  readonly dataDirectory: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** `PATH`, `LANG` and `TZ` of the service. Bots see nothing else of its environment. */
  readonly path: string;
  readonly language?: string | undefined;
  readonly timeZone?: string | undefined;
  /** Bytes of output to keep per instance. Default 64 MiB. */
  readonly outputLimitBytes?: number | undefined;
  /** Memory for all fork servers together. Default: a quarter of the machine's. */
  readonly forkServerMemoryBytes?: number | undefined;
  /** Default: 4 GiB, two processors, half an hour, and no variables. */
  readonly building?: BuildLimits | undefined;
  /** Default: no limits. */
  readonly disk?: DiskLimits | undefined;
  /** Default: removes trees with a quarantine in the data directory. */
  readonly removeTree?: RemoveTree | undefined;
};

/** The driver cannot work on this machine or with this data directory. The message is for the operator and says what to do. */
export class RuntimeUnavailable extends Error {
  override readonly name = 'RuntimeUnavailable';
}

/** The source cannot be started. The message is for the agent's owner; brackets are replaced, because some clients read them as markup. */
export class PrepareError extends Error {
  override readonly name: string = 'PrepareError';
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll('[', '(').replaceAll(']', ')'), options);
  }
}

/** The preparation exceeded its timeout. */
export class PrepareTimeout extends PrepareError {
  override readonly name = 'PrepareTimeout';
}

/** The instance did not become ready. `exit` is null unless it exited by itself. `tail`: its last lines, even if it was stopped. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exit: InstanceExit | null;
  readonly tail: string;
  constructor(message: string, exit: InstanceExit | null, options?: ErrorOptions & { readonly tail?: string }) {
    super(message, options);
    this.exit = exit;
    this.tail = exit?.tail ?? options?.tail ?? '';
  }
}
