import { statfsSync } from 'node:fs';

/** Time needed to find and end a process that would use up the reserve. */
const REACTION_MS = 500;
const WINDOW_MS = 300;
/**
 * The reserve counts as at risk above this fraction of it already, so that slow writers are ended before they use the
 * reserve.
 */
const MARGIN_PART = 1 / 8;
/** An upper bound: bots cannot write faster than this. */
const FASTEST_BYTES_PER_MS = (8 * 1024 * 1024 * 1024) / 1000;
const SHORTEST_POLL_MS = 50;
const LONGEST_POLL_MS = 1_000;

export type FreeSpace = {
  readonly bytes: number;
  readonly isFalling: boolean;
  /** At the present speed, free space would fall below the reserve before the process that writes can be ended. */
  readonly isReserveAtRisk: boolean;
  /** Time to wait until the next poll. */
  readonly pauseMs: number;
};

/** Polls the free space of a file system, more often the closer it is to the reserve. */
export function createFreeSpacePoll(directory: string, reserveBytes: number): () => FreeSpace {
  let samples: { readonly bytes: number; readonly atMs: number }[] = [];
  return () => {
    // Synchronous, because on a busy disk other queued file operations would delay an asynchronous call for seconds.
    const { bavail, bsize } = statfsSync(directory);
    const bytes = bavail * bsize;
    const atMs = performance.now();
    const recent = samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
    samples = [...(recent.length > 0 ? recent : samples.slice(-1)), { bytes, atMs }];
    const first = samples[0] ?? { bytes, atMs };
    const fallenBytes = Math.max(0, first.bytes - bytes);
    const expectedBytes = bytes - (fallenBytes / Math.max(WINDOW_MS, atMs - first.atMs)) * REACTION_MS;
    const aboveMs = (bytes - reserveBytes) / FASTEST_BYTES_PER_MS;
    return {
      bytes,
      isFalling: fallenBytes > 0,
      isReserveAtRisk: reserveBytes > 0 && expectedBytes < reserveBytes * (1 + MARGIN_PART),
      pauseMs: Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, aboveMs)),
    };
  };
}
