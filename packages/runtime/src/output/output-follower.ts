import { setTimeout as delay } from 'node:timers/promises';
import { settlesWithin } from '../settles-within.ts';

/** Milliseconds to read the rest of the output. */
const lastReadMs = 5_000;
/** Exponential backoff between attempts to follow the output. Reset by a stream that lasts longer than the longest pause. */
const firstPauseMs = 500;
const maxPauseMs = 10_000;

export type OutputFollower = {
  /** Copies the output while it is written. Does nothing if this was called before. */
  readonly follow: () => void;
  /** Copies the rest of the output, after the bot has ended. Never rejects. */
  readonly finish: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Copies the output of an instance that a platform keeps. */
export function createOutputFollower(options: {
  /** Copies the output from where the copy ends. With `follows`, until the bot ends. */
  readonly copy: (follows: boolean, signal: AbortSignal) => Promise<void>;
  /** Milliseconds to wait for the end of the stream after the bot has exited. Then the output is read again without following. */
  readonly streamEndMs: number;
  /** Called if the rest of the output could not be copied. */
  readonly onError: (error: unknown) => void;
}): OutputFollower {
  const closing = new AbortController();
  const { signal } = closing;
  let followed: Promise<void> | null = null;
  /** Resolves when the current stream of the output ends. */
  let copied: Promise<unknown> = Promise.resolve();

  const follow = async () => {
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      const begunAt = performance.now();
      copied = options.copy(true, signal).catch(() => undefined);
      await copied;
      if (performance.now() - begunAt > maxPauseMs) pauseMs = firstPauseMs;
      // Streams that ended together, for example because the platform was restarted, are not opened together.
      await delay(pauseMs * (1 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  };

  const close = async () => {
    closing.abort();
    await followed;
  };
  return {
    follow: () => {
      followed ??= follow();
    },
    finish: async () => {
      await settlesWithin(copied, options.streamEndMs);
      await close();
      await options.copy(false, AbortSignal.timeout(lastReadMs)).catch(options.onError);
    },
    close,
  };
}
