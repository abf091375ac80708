import { once } from 'node:events';
import { describeExit, type InstanceEnd } from './instance-end.ts';
import type { InstanceEvents } from './instance-events.ts';
import type { InstanceStore } from './instance-store.ts';
import { createOutputFollower } from './output/output-follower.ts';
import { type OutputSpool, openOutputSpool, type SpoolClock } from './output/output-spool.ts';
import type { ResourceUsage, RuntimeLogger } from './runtime.ts';
import { settlesWithin } from './settles-within.ts';

/** What the recorders of all instances of a server share. */
export type RecorderContext = {
  readonly files: Pick<InstanceStore<never>, 'logDirectory' | 'readEnd' | 'writeEnd'>;
  readonly events: InstanceEvents;
  readonly logger: RuntimeLogger;
  readonly clock: SpoolClock;
  readonly outputLimitBytes: number;
  /** `PATH` of the service, for `perl`, which frees the disk space of dropped output. */
  readonly path: string;
};

/** Records the output, the usage and the end of an instance whose platform keeps its output. */
export type InstanceRecorder = {
  readonly output: OutputSpool;
  /** Copies the output while it is written. */
  readonly follow: () => void;
  readonly usage: () => ResourceUsage | null;
  readonly recordUsage: (usage: ResourceUsage) => void;
  /** Reads the rest of the output and records the end. Never rejects. A later call waits for the first, or retries a failed one. */
  readonly recordEnd: (how: Omit<InstanceEnd, 'tail'>) => Promise<void>;
  /** The bot never ran, and nothing of the instance is left. */
  readonly abandon: () => void;
  readonly end: () => InstanceEnd | null;
  /** Resolves when the end is recorded, or after `abandon`. */
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
  /** Whether the bot has ended. The end is recorded when the rest of its output is read. */
  readonly hasStopped: () => boolean;
  /** Whether `ended` resolves within the time. Rejects on `close`, because a bot may have hours to end. */
  readonly endsWithin: (milliseconds: number) => Promise<boolean>;
  /** Stops following the instance, which continues to run. */
  readonly close: () => Promise<void>;
};

/** Creates a recorder, which continues the recording of an earlier server process. */
export function createInstanceRecorder(
  { files, events, logger, ...context }: RecorderContext,
  options: {
    readonly instanceId: string;
    /** Copies the output from where the copy ends. With `follows`, until the bot ends. */
    readonly copyOutput: (output: OutputSpool, follows: boolean, signal: AbortSignal) => Promise<void>;
    /** Milliseconds to wait for the platform to end the output stream after the bot has exited. */
    readonly streamEndMs: number;
    /** Whether the output cannot be read because the platform has deleted it. */
    readonly isOutputMissing: (error: unknown) => boolean;
  },
): InstanceRecorder {
  const { instanceId } = options;
  let end = files.readEnd(instanceId);
  let reported: Omit<InstanceEnd, 'tail'> | null = end;
  let recording: Promise<void> | null = null;
  let usage: ResourceUsage | null = null;
  let hasEnded = false;
  let settle: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    settle = () => {
      hasEnded = true;
      resolve();
    };
  });
  if (end !== null) settle();
  const closing = new AbortController();
  const closed = once(closing.signal, 'abort');

  const output = openOutputSpool({
    ...context,
    directory: files.logDirectory(instanceId),
    isFinished: end !== null,
    limitBytes: context.outputLimitBytes,
    searchPath: context.path,
    onDropped: (bytes) => events.outputDropped(instanceId, bytes),
    onError: (error) => logger.error({ instanceId, err: error }, 'output of instance could not be recorded'),
  });
  const follower = createOutputFollower({
    copy: (follows, signal) => options.copyOutput(output, follows, signal),
    streamEndMs: options.streamEndMs,
    onError: (error) => {
      if (!options.isOutputMissing(error))
        logger.warn({ instanceId, err: error }, 'last output of instance could not be read');
    },
  });

  const record = async (how: Omit<InstanceEnd, 'tail'>) => {
    await follower.finish();
    output.finish(Date.parse(how.at) * 1000);
    end = { ...how, tail: output.tail() };
    if (usage !== null) usage = { ...usage, memoryBytes: 0, hasEnded: true };
    try {
      files.writeEnd(instanceId, end);
    } catch (error) {
      // The next server process reads the end from the platform again.
      logger.error({ instanceId, err: error }, 'end of instance could not be recorded');
    }
    settle();
    events.ended(instanceId, new Date(end.at), describeExit(end));
  };

  return {
    output,
    follow: follower.follow,
    usage: () => usage,
    recordUsage: (next) => {
      if (end === null) usage = next;
    },
    recordEnd: async (how) => {
      // The next server process records an end that is found after `close`.
      if (end !== null || closing.signal.aborted) return;
      if (reported === null) events.stopped(instanceId);
      reported ??= how;
      recording ??= record(reported).catch((error: unknown) => {
        recording = null;
        logger.error({ instanceId, err: error }, 'end of instance could not be handled');
      });
      await recording;
    },
    abandon: settle,
    end: () => end,
    ended,
    hasEnded: () => hasEnded,
    hasStopped: () => hasEnded || reported !== null,
    endsWithin: async (milliseconds) => {
      const isSettled = await settlesWithin(Promise.race([ended, closed]), milliseconds);
      if (closing.signal.aborted && !hasEnded) throw new Error('The service shut down before the instance had ended.');
      return isSettled;
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([follower.close(), recording]);
      output.close();
    },
  };
}
