import type { ImageErrorCode } from '@bothost/contract';

/**
 * The interface between the server and the runtime drivers, which run bots. Every driver passes the conformance suite
 * (packages/runtime/test/conformance/conformance.ts). Only drivers know pids, containers or pods.
 */

export type ResourceLimits = { readonly cpuMillicores: number; readonly memoryBytes: number };

/** A served directory, or the unpacked archive of a build. `path` is absolute. An organization's builds share a package cache. */
export type BotProjectSource =
  | { readonly kind: 'directory'; readonly path: string; readonly contentHash: string }
  | { readonly kind: 'build'; readonly path: string; readonly contentHash: string; readonly organizationId: string };

/** A bot as a container image. `reference` is a name with an optional tag or digest, such as `ghcr.io/team/bot:1.4`. */
export type BotImageSource = {
  readonly kind: 'image';
  readonly reference: string;
  readonly organizationId: string;
};

/** The source of a bot. `RuntimeTraits.accepts` has the kinds that a driver accepts. */
export type BotSource = BotProjectSource | BotImageSource;

/** User name and password for an image registry. A driver never stores them in plain text, and never logs them. */
export type RegistryCredentials = {
  /** Host of the registry, with its port if it is not the default one, such as `ghcr.io` or `registry.example:5000`. */
  readonly registry: string;
  readonly username: string;
  readonly password: string;
};

/**
 * Returns the credentials with which an image is pulled, in their newest revision, because the tokens of some registries expire
 * after hours. Null: the registry is asked without credentials. A driver calls this each time before it asks the registry.
 */
export type RegistryCredentialsProvider = () => Promise<RegistryCredentials | null>;

/** Progress of one layer of an image. `totalBytes` is null if the registry has not reported the size. */
export type ImageLayerProgress = {
  /** The first 12 digits of the digest of the layer. */
  readonly id: string;
  readonly state: 'waiting' | 'downloading' | 'extracting' | 'complete';
  readonly bytes: number;
  readonly totalBytes: number | null;
};

/** `id` is that of the build, or of the deployment of a directory or image. The content of one id never changes. */
export type ProjectPreparationSpec = {
  readonly id: string;
  readonly source: BotSource;
  /** Only for images. */
  readonly credentials?: RegistryCredentialsProvider | undefined;
  /** Only for images. Receives all layers that are known so far, at most a few times per second. */
  readonly onProgress?: ((layers: readonly ImageLayerProgress[]) => void) | undefined;
};

/** Result of `prepare`, which the server stores as JSON. Opaque, except `digest`: an image's, such as `sha256:1f...`. */
export type PreparedProject = { readonly [key: string]: string | number | boolean | null };

export type InstanceSpec = {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly prepared: PreparedProject;
  readonly limits: ResourceLimits;
  /** Whether the instance may be forked from a process that has already imported the bot. Default: true. */
  readonly forks?: boolean | undefined;
  /**
   * Returns environment variables for the bot, in addition to the variables that the runtime driver sets (docs/bot-contract.md,
   * "Environment"). They are equal for all instances of a deployment, or else its instances cannot be forked. The variables may be
   * secrets, so the runtime driver calls `environment` only when it starts a process. If `environment` rejects, `start` rejects with
   * that error as its cause.
   */
  readonly environment: () => Promise<Readonly<Record<string, string>>>;
  /** Returns the variables of this instance only, such as its tokens. Those of `environment` take precedence. Default: none. */
  readonly instanceEnvironment?: (() => Readonly<Record<string, string>>) | undefined;
  /** Only for images. The driver needs them if it no longer has the image. */
  readonly credentials?: RegistryCredentialsProvider | undefined;
  /** Seconds that a bot may run after the request to end: the maximum length of a session and a margin. */
  readonly drainSeconds: number;
};

/** The address at which a ready instance serves HTTP/1.1 without TLS. `socket` is the absolute path of a Unix socket. */
export type InstanceAddress = { readonly socket: string } | { readonly host: string; readonly port: number };

export type StartedInstance = {
  readonly address: InstanceAddress;
  /** What the driver learned about the source, if it changed. The server stores it with the deployment. */
  readonly prepared?: PreparedProject | undefined;
};

export type InstanceStartMethod = {
  /**
   * How instances start. `module`: they are forked from a process that has imported the bot. `libraries`: they are forked from a
   * process that has imported only libraries, and then import the bot. `spawn`: each instance is a new process that imports
   * everything.
   */
  readonly level: 'module' | 'libraries' | 'spawn';
  /** Why instances are not forked after the import of the bot, for its owner. Null if they are, or if it is unknown. */
  readonly reason: string | null;
  /** Memory that the driver uses to start instances, with its share of their common pages. Null if it uses none. */
  readonly memoryBytes: number | null;
};

/**
 * `leaving`: no session should begin, because the platform has announced that it will end the instance, or its machine does not
 * respond. The bot may still run, and an instance whose machine responds again is `ready`. `exited`: nothing of the instance runs.
 */
export type InstanceState = 'starting' | 'ready' | 'leaving' | 'exited';

export type ObservedInstance = {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly state: InstanceState;
  /** The bot's address, null unless `ready` or `leaving`. To wait for an adopted instance, call `start` with its spec. */
  readonly address: InstanceAddress | null;
};

/** Maximum size of `InstanceExit.tail` in bytes. */
export const maxOutputTailBytes = 4_096;

/**
 * Why an instance ended. `exited`: by itself, or because of a signal. `out-of-memory`, `disk`: it exceeded a limit. `platform`: the
 * platform ended it for a reason of its own, such as an eviction. `unknown`: nothing recorded its end, for example because the
 * supervisor was killed or the container was removed.
 */
export type InstanceExitReason = 'exited' | 'out-of-memory' | 'disk' | 'platform' | 'unknown';

/** How an instance ended. Code and signal are null if unknown, for example after a kill of the supervisor. */
export type InstanceExit = {
  readonly reason: InstanceExitReason;
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** The last lines of the output, at most `maxOutputTailBytes`. A longer line is cut at its beginning, between characters. */
  readonly tail: string;
  /** A sentence for the agent's owner that names the disk limit, if the service ended the instance for exceeding it. */
  readonly diskLimit?: string | undefined;
  /** A sentence for the agent's owner that says why the platform ended the instance, if it did. */
  readonly platformCause?: string | undefined;
};

export type InstanceEvent =
  /** The state of the instance is now `exited`, so its address may belong to another bot. `exited` follows when its output is complete. */
  | { readonly kind: 'stopped'; readonly instanceId: string; readonly at: Date }
  | { readonly kind: 'exited'; readonly instanceId: string; readonly at: Date; readonly exit: InstanceExit }
  /** The state of the instance is now `leaving`. `detail` says why, as a sentence. */
  | { readonly kind: 'leaving'; readonly instanceId: string; readonly at: Date; readonly detail: string }
  /** `findReplaceable` now returns this instance. */
  | { readonly kind: 'replaceable'; readonly instanceId: string; readonly at: Date }
  /** Something to know about an instance, which continues to run or to start. */
  | {
      readonly kind: 'noticed';
      readonly instanceId: string;
      readonly at: Date;
      readonly notice: InstanceNotice;
      readonly detail: string;
    };

/**
 * `listens-wide`: the bot listens on more than loopback. `cpu-limit-not-enforced`, `memory-limit-sampled`: the kernel of this
 * machine does not enforce the limit. `output-dropped`: the output exceeded its limit. `pulling`: the start waits until the image
 * is pulled. `waiting`: the start waits for the platform, for example until it responds again.
 */
export type InstanceNotice =
  | 'listens-wide'
  | 'cpu-limit-not-enforced'
  | 'memory-limit-sampled'
  | 'output-dropped'
  | 'pulling'
  | 'waiting';

/** CPU time is cumulative since the instance's start and never decreases. Memory is the working set. */
export type ResourceUsage = {
  /** When the usage was read. A driver may return an earlier reading again. */
  readonly at: Date;
  readonly cpuMicroseconds: number;
  readonly memoryBytes: number;
  /** Whether the instance has ended. It then uses no memory. */
  readonly hasEnded?: boolean;
};

/** Unix time in microseconds. Timestamps of one server always increase, even if its clock is set back. */
export type EpochMicroseconds = number;

/** The server read the output up to offset `end` at time `at`. `unattended`: it was written at an unknown earlier time. */
export type OutputTimestamp = { readonly end: number; readonly at: EpochMicroseconds; readonly unattended: boolean };

export type OutputOffsetRange = { readonly from: number; readonly to: number };

/** Standard output and standard error of an instance in one file. Offsets count bytes since the instance's start. */
export type OutputFile = {
  readonly path: string;
  /** Offset, in the whole output, of the first byte that the file still contains. */
  readonly base: number;
  /** Dropped ranges, in ascending order. Each ends where the file begins, or is a hole of the sparse file. */
  readonly dropped: readonly OutputOffsetRange[];
  /** Timestamps by increasing offset. Read only up to the last one, because later bytes have no timestamp yet. */
  readonly marks: readonly OutputTimestamp[];
  /** When the instance's output ended. Later than all timestamps of the output. Null while the instance runs. */
  readonly endedAt: EpochMicroseconds | null;
};

/** Callers read output from the driver's file while an instance runs, and move it to their own directory afterwards. */
export type InstanceOutputStore = {
  /** Records how much output each running instance has written. Later output gets a later timestamp than the returned one. */
  readonly mark: () => Promise<EpochMicroseconds>;
  readonly find: (instanceId: string) => Promise<OutputFile | null>;
  /** Returns the last lines that an instance has written, like `InstanceExit.tail`. Empty if the instance is unknown. */
  readonly tail: (instanceId: string) => string;
  /** Resolves when an instance has ended or has output recorded after `since`, or at an abort. May resolve earlier. */
  readonly changed: (instanceIds: readonly string[], since: EpochMicroseconds, signal: AbortSignal) => Promise<void>;
  /** Atomically moves the output of an ended instance to `directory`, which must not exist yet. Idempotent. */
  readonly release: (instanceId: string, directory: string) => Promise<void>;
  readonly findReleased: (directory: string) => Promise<OutputFile | null>;
};

/** The files to which a bot appends its conversation (docs/bot-contract.md, "Conversation"): lines of JSON, and their audio. */
export type ConversationFileName = 'lines' | 'recording';

/** `fileBytes` is the size of the file. `replaced`: the bot replaced the driver's file, which is then not read. */
export type ConversationFilePart =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly fileBytes: number }
  | { readonly kind: 'replaced' };

/** The conversation files of instances, until `forget`. */
export type InstanceConversationStore = {
  /** Reads without waiting for more. Null if the instance is unknown or has no file. Rejects if it is unreadable now. */
  readonly read: (
    instanceId: string,
    file: ConversationFileName,
    offset: number,
    maximumBytes: number,
  ) => Promise<ConversationFilePart | null>;
};

export type Milliseconds = number;

/** Receives a line of a build's output. `isDetail`: it belongs only in the full log. */
export type BuildOutputHandler = (line: string, isDetail?: boolean) => void;

/** Prepares the source of a bot, so that instances can be started from it, and deletes prepared projects. */
export type ProjectPreparer = {
  /**
   * Prepares a source: copies it, and installs and builds what it needs. Idempotent per id: a later call does nothing, and a
   * concurrent call joins the first one and gets the output from then on. Rejects with `ProjectPreparationError` if bots cannot
   * be started from the source, with another error if a later call may succeed, and with the signal's reason after an abort.
   * After a rejection nothing is running, and a later call starts from the beginning. The preparation of an image always asks
   * the registry with the credentials of the spec, even if the driver has the image: it may have been pulled for another
   * organization.
   */
  prepare(spec: ProjectPreparationSpec, output: BuildOutputHandler, signal: AbortSignal): Promise<PreparedProject>;
  /** Deletes a prepared project, and caches and environments that only it used. Idempotent. */
  discard(prepared: PreparedProject): Promise<void>;
};

/** Starts and stops instances, and reports which ones run and how they ended. */
export type InstanceLifecycle = {
  /**
   * Starts an instance and resolves when the bot is ready (docs/bot-contract.md, "Readiness"). If the instance already runs, for
   * example since before a restart of the server, only waits until it is ready; if it has exited, rejects with its exit. Rejects
   * with `StartError`; then nothing is running. An abort stops the instance. `launched` is called when the bot's program runs,
   * so that a pull does not count as time that the bot took to start.
   */
  start(spec: InstanceSpec, signal: AbortSignal, launched?: () => void): Promise<StartedInstance>;
  /** Ends all processes with SIGTERM, and with SIGKILL after `grace`. Resolves when none is running. Idempotent. */
  stop(instanceId: string, grace: Milliseconds): Promise<void>;
  /** Instances until `forget`, even ended ones. Rejects if the driver cannot say, for example during an outage. */
  list(): Promise<readonly ObservedInstance[]>;
  /**
   * Reads one instance from its source of truth, never from a cache. Null: it does not exist, or `forget` was called for it.
   * Call this before something irreversible, such as recording that an instance is lost. Rejects like `list`.
   */
  inspect(instanceId: string): Promise<ObservedInstance | null>;
  /** Whether the address is the bot's, as far as this process knows. False while a remote driver sees no changes. Never waits. */
  isAddressCurrent(instanceId: string): boolean;
  /** Whether the platform reports changes now. While it does not, `list` may return an earlier state. Never waits. */
  isConnected(): boolean;
  /** Yields the events since the last watcher stopped, then all further events. There can be only one watcher at a time. */
  watch(signal: AbortSignal): AsyncIterable<InstanceEvent>;
  /** Deletes what is left of an ended instance. Call this after storing how the instance ended. Idempotent. */
  forget(instanceId: string): Promise<void>;
};

/** Measures the CPU time and memory of instances, and the disk space of organizations. */
export type UsageMeter = {
  /** Cumulative usage per instance. For an instance whose end this server observed, the last usage until `forget`. */
  sample(instanceIds: readonly string[]): Promise<ReadonlyMap<string, ResourceUsage>>;
  /** Disk space in bytes of builds and instances, as last measured. 0 before that, and without disk limits. */
  diskUsage(organizationId: string): Promise<number>;
};

/** Gives an instance more CPU while its session opens. */
export type SessionPriority = {
  /**
   * Raises the CPU limit of an instance to that of a starting instance for five seconds, and permanently gives it priority over
   * starting instances. Call this when a session is dispatched to the instance.
   */
  sessionOpening(instanceId: string): void;
  /**
   * Restores the normal CPU limit of an instance before the five seconds after the call of `sessionOpening` are over. Call this
   * when the server relays the session's messages and has received the first message from the bot.
   */
  sessionOpened(instanceId: string): void;
};

/** How instances start. A driver decides by itself whether it keeps anything, such as processes, to start them faster. */
export type StartMethods = {
  /** Frees what the driver keeps to start other deployments. Instances keep running. Idempotent, and never rejects. */
  retain(deploymentIds: ReadonlySet<string>): Promise<void>;
  /** Start methods by deployment id, if this server started an instance or the driver keeps something of it. */
  startMethods(): ReadonlyMap<string, InstanceStartMethod>;
  /** Running instances that would now start by a better method: with less memory and faster sessions. */
  findReplaceable(): ReadonlySet<string>;
};

/** An open runtime driver, which prepares projects and runs instances. */
export type Runtime = ProjectPreparer &
  InstanceLifecycle &
  UsageMeter &
  SessionPriority &
  StartMethods & {
    readonly outputs: InstanceOutputStore;
    readonly conversations: InstanceConversationStore;
    /**
     * Stops watching instances and closes files. Instances keep running, so that the next server process can adopt them. Pending
     * calls of `start` reject, but the bots that they started keep running, and the next server process waits until these bots
     * are ready.
     */
    close(): Promise<void>;
  };

export type RuntimeLogger = {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};

/**
 * Removes a file or tree that a tenant may have written. Never rejects: files that cannot be deleted are moved to a quarantine
 * and reported to the operator. Resolves to false if something is left at the path; the account that owns the path must then
 * not be given to another tenant. Idempotent.
 */
export type DirectoryTreeRemover = (path: string) => Promise<boolean>;

/** `installsUv`: whether to install uv from the Python package index if no directory in the service's `PATH` contains it. */
export type BuildLimits = ResourceLimits & {
  readonly installsUv: boolean;
  readonly timeoutMs: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** Limits of disk space. They also apply to instances that a previous server process started. */
export type DiskLimits = {
  /** Maximum disk space of one instance in bytes: its own directories, and deleted files that it holds open. */
  readonly instanceBytes: number;
  /** Maximum disk space of one build in bytes, including what it downloads and installs. */
  readonly buildBytes: number;
  /** Maximum disk space of all builds and instances of one organization in bytes. */
  readonly organizationBytes: number;
  /** Bytes of free disk space that builds and instances may not use. 0 means no reserve. */
  readonly reserveBytes: number;
};

/** Options of every driver. A driver may have further ones. */
export type RuntimeOptions = {
  /** Absolute path of the data directory, in which the runtime driver creates its own directories. */
  readonly dataDirectory: string;
  /** Id of the data directory. Drivers whose platform is shared with others recognize their own instances by it. */
  readonly hostId: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** Bytes of output to keep per instance. */
  readonly outputLimitBytes: number;
};

/** What the server must know about a driver, besides its methods. */
export type RuntimeTraits = {
  readonly accepts: ReadonlySet<BotSource['kind']>;
  /** Whether bots reach the loopback address of the server. */
  readonly reachesLoopback: boolean;
  /** Interval in seconds at which `sample` has new readings. */
  readonly sampleSeconds: number;
  /** Concurrent starts per organization, unless the operator sets it. Null: 4 for each CPU of this machine. */
  readonly startsAtOnce: number | null;
  /** Whether the operator can forbid the driver to read the usage of instances. */
  readonly isUsageOptional: boolean;
  /** Whether bots share the account of the service, and so can read its files, unless it runs as root. */
  readonly isolatesOnlyAsRoot: boolean;
  /** What an operator reads while `list` rejects. */
  readonly outage: { readonly reason: string; readonly nextStep: string };
};

/**
 * What a driver offers to the server through `registry.ts`.
 *
 * @example
 * const { prepareServer, open } = runtimes.process;
 * await prepareServer?.();
 * const runtime = await open(options);
 */
export type RuntimeDriver<Options extends RuntimeOptions> = {
  readonly traits: RuntimeTraits;
  /**
   * Gives the server process a higher CPU priority than bots, for example with a control group. Call this before the server
   * starts its database or another program, because child processes inherit the priority. Does nothing if this machine does not
   * permit it.
   */
  readonly prepareServer?: () => Promise<void>;
  /** Rejects with `RuntimeUnavailableError` if the driver cannot run bots here. */
  readonly open: (options: Options) => Promise<Runtime>;
};

/**
 * The runtime driver cannot run bots on this machine or with this data directory. The message says what the operator can do.
 */
export class RuntimeUnavailableError extends Error {
  override readonly name = 'RuntimeUnavailableError';
}

/**
 * A project could not be prepared, for example because its build failed. The error message is for the agent's owner. Square
 * brackets in the message are replaced, because some clients read them as markup.
 */
export class ProjectPreparationError extends Error {
  override readonly name: string = 'ProjectPreparationError';
  /** Why an image cannot be used. Undefined if the source is not an image. */
  readonly imageCode: ImageErrorCode | undefined;
  constructor(message: string, options?: ErrorOptions & { readonly imageCode?: ImageErrorCode }) {
    super(message.replaceAll('[', '(').replaceAll(']', ')'), options);
    this.imageCode = options?.imageCode;
  }
}

export class ProjectPreparationTimeoutError extends ProjectPreparationError {
  override readonly name = 'ProjectPreparationTimeoutError';
}

/**
 * Whose failure a failed start is. `bot`, `image`: the same start would fail again, so the deployment fails. `capacity`: the
 * platform has no room for the instance. `platform`: another failure of the platform or of the service. After the last two,
 * another instance may start.
 */
export type StartErrorKind = 'bot' | 'image' | 'capacity' | 'platform';

/**
 * An instance did not start. `exit` says how the instance ended, and is null if the instance was never launched or was stopped on
 * request. `tail` has the last lines of its output, even if it was stopped. `kind` is by default `bot` if there is an exit, and
 * `platform` otherwise. `imageCode` says more about the kind `image`.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exit: InstanceExit | null;
  readonly tail: string;
  readonly kind: StartErrorKind;
  readonly imageCode: ImageErrorCode | undefined;
  constructor(
    message: string,
    exit: InstanceExit | null,
    options?: ErrorOptions & {
      readonly tail?: string;
      readonly kind?: StartErrorKind;
      readonly imageCode?: ImageErrorCode | undefined;
    },
  ) {
    super(message, options);
    this.exit = exit;
    this.tail = exit?.tail ?? options?.tail ?? '';
    this.kind = options?.kind ?? (exit === null ? 'platform' : 'bot');
    this.imageCode = options?.imageCode;
  }
}
