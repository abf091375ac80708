import type { InstanceEnd } from './instance-end.ts';
import type { InstanceStore } from './instance-store.ts';
import type { OutputFollower } from './output/output-follower.ts';
import type { OutputSpool } from './output/output-spool.ts';
import type { RuntimeLogger } from './runtime.ts';

/** The end of an instance whose output a platform keeps. */
export type InstanceEnding = {
  readonly end: () => InstanceEnd | null;
  /** Resolves when the end is recorded. */
  readonly ended: Promise<void>;
  /** Whether the bot has ended. The end is recorded when the rest of its output is read. */
  readonly hasStopped: () => boolean;
  /**
   * Reads the rest of the output, and records how the bot ended. Never rejects. A repeated call waits for the first, or retries after
   * a failure, with the first reported end.
   */
  readonly record: (how: Omit<InstanceEnd, 'tail'>) => Promise<void>;
};

export function createInstanceEnding(options: {
  readonly instanceId: string;
  /** What an earlier server process recorded. */
  readonly end: InstanceEnd | null;
  readonly output: OutputSpool;
  readonly follower: Pick<OutputFollower, 'finish'>;
  readonly store: Pick<InstanceStore<never>, 'writeEnd'>;
  readonly logger: RuntimeLogger;
  /** Called when the bot has ended. */
  readonly onStopped: () => void;
  /** Called when the end is recorded. */
  readonly onEnded: (end: InstanceEnd) => void;
}): InstanceEnding {
  const { instanceId, output, logger } = options;
  let { end } = options;
  let reported: Omit<InstanceEnd, 'tail'> | null = end;
  let recording: Promise<void> | null = null;
  let resolveEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  if (end !== null) resolveEnded();

  const record = async (how: Omit<InstanceEnd, 'tail'>) => {
    await options.follower.finish();
    output.finish(Date.parse(how.at) * 1000);
    const recorded: InstanceEnd = { ...how, tail: output.tail() };
    try {
      options.store.writeEnd(instanceId, recorded);
    } catch (error) {
      // The next server process reads the end from the platform again.
      logger.error({ instanceId, err: error }, 'end of instance could not be recorded');
    }
    end = recorded;
    resolveEnded();
    options.onEnded(recorded);
  };

  return {
    end: () => end,
    ended,
    hasStopped: () => reported !== null,
    record: async (how) => {
      if (end !== null) return;
      if (reported === null) options.onStopped();
      reported ??= how;
      recording ??= record(reported).catch((error: unknown) => {
        recording = null;
        logger.error({ instanceId, err: error }, 'end of instance could not be handled');
      });
      await recording;
    },
  };
}
