/**
 * The runtime seam: all that the server knows of how bots run. A driver (`process`, later `docker` and `kubernetes`)
 * implements it and passes the one conformance suite, `conformance.ts`. No other part of the server knows what a pid, a
 * container or a pod is (architecture, "The runtime seam").
 */

/** What a profile grants one instance. CPU in millicores, memory in bytes. */
export type ResourceLimits = { readonly cpuMillicores: number; readonly memoryBytes: number };

/**
 * Where code comes from: a directory that the operator serves, or the unpacked tree of a build. `path` is absolute. Only
 * what belongs to the same organization may share what was downloaded or installed for a build.
 */
export type PrepareSource =
  | { readonly kind: 'directory'; readonly path: string; readonly contentHash: string }
  | { readonly kind: 'build'; readonly path: string; readonly contentHash: string; readonly organizationId: string };

/** `id`: the build's, or for a directory the deployment's. Content never changes under the same id. */
export type PrepareSpec = { readonly id: string; readonly source: PrepareSource };

/** What `prepare` made of a source: opaque to the server, stored as JSON, and handed back in `InstanceSpec`. */
export type Prepared = { readonly [key: string]: string | number | boolean | null };

export type InstanceSpec = {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly prepared: Prepared;
  readonly limits: ResourceLimits;
  /**
   * Variables for the bot, beside those of the bot contract 2.4 that the driver sets itself (`PORT`, `BOT_HOST`). Asked for
   * when something is really started, and not of an instance that runs already: it may hold secrets, which are opened for
   * that alone. Where it rejects, `start` does with that as its cause.
   */
  readonly environment: () => Promise<Readonly<Record<string, string>>>;
};

/** Where a ready instance answers, over plain HTTP/1.1 (bot contract 2.1). */
export type InstanceAddress = { readonly host: string; readonly port: number };

export type RunningInstance = {
  readonly instanceId: string;
  readonly deploymentId: string;
  /** Null while it is not yet ready; an adopted one becomes ready through `start` with the same spec. */
  readonly address: InstanceAddress | null;
};

/** Of what an instance wrote last its exit has so many bytes at most. */
export const tailBytes = 4_096;

/** How an instance ended. All null: it is gone and nobody can tell how (for example its supervisor was killed). */
export type InstanceExit = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /**
   * The last lines of its output, at most `tailBytes`, for the session's record. Of a line that is longer than that its end: all
   * of these bytes, but for up to three of a character that would be cut.
   */
  readonly tail: string;
};

export type InstanceEvent =
  | { readonly kind: 'exited'; readonly instanceId: string; readonly at: Date; readonly exit: InstanceExit }
  /** Something that an operator should know and that does not end the instance, such as `listens-wide`. */
  | {
      readonly kind: 'noticed';
      readonly instanceId: string;
      readonly at: Date;
      readonly notice: InstanceNotice;
      readonly detail: string;
    };

/**
 * `listens-wide`: listens on more than loopback. `cpu-limit-not-enforced`, `memory-limit-sampled`: what this machine cannot
 * enforce. `output-dropped`: the output passed its limit, and from now on there is a gap in it.
 */
export type InstanceNotice = 'listens-wide' | 'cpu-limit-not-enforced' | 'memory-limit-sampled' | 'output-dropped';

/** CPU is cumulative since the instance's start, in microseconds, and never falls. Memory is the working set, in bytes. */
export type Usage = { readonly cpuMicroseconds: number; readonly memoryBytes: number };

/**
 * A moment in microseconds since the epoch. No two timestamps of one server are equal and later ones are greater, whatever its
 * clock does, so they order what its instances wrote.
 */
export type Timestamp = number;

/** Output before the offset `end` had been seen at `at`. `unattended`: it came while no server ran, so `at` is a bound. */
export type OutputMark = { readonly end: number; readonly at: Timestamp; readonly unattended: boolean };

export type OffsetRange = { readonly from: number; readonly to: number };

/** What an instance wrote to its standard output and error, as one file. Offsets count bytes since its start. */
export type OutputFile = {
  readonly path: string;
  /** Offset of the file's first byte. */
  readonly base: number;
  /** What is not there any more, in order: before `base`, or empty space within the file. */
  readonly dropped: readonly OffsetRange[];
  /** Rising. Bytes after the last mark have no time yet: read up to it. */
  readonly marks: readonly OutputMark[];
  /** After the last mark: from then on nothing is added, and a last line without a break is one. Null while it runs. */
  readonly endedAt: Timestamp | null;
};

/** The output of instances: read in place while they run, and handed over when they have ended. */
export type InstanceOutputs = {
  /** Marks what all instances have written until now. Whatever is marked later gets a later stamp than the one returned. */
  readonly look: () => Timestamp;
  /** Null for an instance that is not known (any more). */
  readonly of: (instanceId: string) => Promise<OutputFile | null>;
  /** Resolves when one of the instances has output marked after `since`, or has ended; and at the abort. */
  readonly changed: (instanceIds: readonly string[], since: Timestamp, signal: AbortSignal) => Promise<void>;
  /** Moves the output of an ended instance into a directory, which must not be there, in one step. Idempotent. */
  readonly release: (instanceId: string, directory: string) => Promise<void>;
  /** Output that was moved; null when there is none. */
  readonly released: (directory: string) => Promise<OutputFile | null>;
};

export type Milliseconds = number;

export interface Runtime {
  /**
   * Makes a source startable; what that installs and builds says goes to `output`, line by line. Idempotent per id: a
   * second call does nothing, one at the same time shares the first one's work and gets its output from then on. Rejects
   * with `PrepareError` and a sentence for people when the source cannot be started, and with the signal's reason after an
   * abort; then nothing is left running, and a later call begins anew.
   */
  prepare(spec: PrepareSpec, output: (line: string) => void, signal: AbortSignal): Promise<Prepared>;
  /**
   * Starts an instance and resolves when the bot is ready (bot contract 2.5). Called again for an instance that is already
   * running (a server that came back), it starts nothing and waits for that one. Rejects with `StartError`; then nothing
   * is left running. An abort stops the instance.
   */
  start(spec: InstanceSpec, signal: AbortSignal): Promise<InstanceAddress>;
  /** Ends all processes of an instance: SIGTERM, after `grace` SIGKILL. Idempotent; resolves when nothing is left. */
  stop(instanceId: string, grace: Milliseconds): Promise<void>;
  /** What really runs on this host, also what an earlier server started. */
  list(): Promise<readonly RunningInstance[]>;
  /** Events from now on, and first those that happened while no server watched. One watcher at a time. */
  watch(signal: AbortSignal): AsyncIterable<InstanceEvent>;
  /** Cumulative usage of each instance's whole process tree; an instance that is gone is left out. */
  sample(instanceIds: readonly string[]): Promise<ReadonlyMap<string, Usage>>;
  readonly outputs: InstanceOutputs;
  /** Drops what is kept of an instance that has ended (output, exit status), after its end was recorded. Idempotent. */
  forget(instanceId: string): Promise<void>;
  /** Drops what was prepared, and what it alone used. Idempotent. */
  discard(prepared: Prepared): Promise<void>;
  /** Lets go of watches and files. Instances go on running. */
  close(): Promise<void>;
}

/** The part of a pino logger that a driver uses. */
export type RuntimeLogger = {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};

/**
 * Removes a file or a tree that a tenant may have written, whatever it holds. Never rejects: what cannot be deleted is moved
 * out of everyone's reach and reported to the operator. Resolves to false if something is still at the path, so that its
 * account must not be given to anybody else. Idempotent.
 */
export type RemoveTree = (path: string) => Promise<boolean>;

/** What installing and building a project may use, and which variables of the service's environment it sees. */
export type BuildLimits = ResourceLimits & {
  readonly timeoutMilliseconds: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** What the registry hands to every driver. */
export type RuntimeOptions = {
  /** Absolute. A driver keeps its own folders in it. */
  readonly dataDirectory: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** `PATH`, and where they are set `LANG` and `TZ`, of the service: all of its environment that bots may see. */
  readonly path: string;
  readonly language?: string | undefined;
  readonly timeZone?: string | undefined;
  /** Bytes of output that are kept of each instance. Default 64 MiB. */
  readonly outputLimitBytes?: number | undefined;
  /** Default: 4 GB, two processors, half an hour, and no variable. */
  readonly building?: BuildLimits | undefined;
  /** Default: one with a quarantine in the data directory. */
  readonly removeTree?: RemoveTree | undefined;
};

/** The driver cannot work on this machine, or not with this data directory; the message tells the operator what to do. */
export class RuntimeUnavailable extends Error {
  override readonly name = 'RuntimeUnavailable';
}

/** The source cannot be started; the message is for the agent's owner, some of whose clients read brackets as markup. */
export class PrepareError extends Error {
  override readonly name: string = 'PrepareError';
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll('[', '(').replaceAll(']', ')'), options);
  }
}

/** Making it startable took longer than it may. */
export class PrepareTimeout extends PrepareError {
  override readonly name = 'PrepareTimeout';
}

/**
 * The instance did not become ready. `exit` is there when it exited by itself; `tail`, its last lines, also when it was
 * stopped.
 */
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
