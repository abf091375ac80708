import { statfsSync } from 'node:fs';

/** Time in which a writer that would take the reserve can be found and ended. */
const REACTION_MS = 500;
const WINDOW_MS = 300;
/** Growth this close to the reserve counts as touching it, so that slow writers are ended before they do. */
const MARGIN_PART = 1 / 8;
/** Faster than bots write. */
const FASTEST_BYTES_PER_MS = (8 * 1024 * 1024 * 1024) / 1000;
const SHORTEST_POLL_MS = 50;
const LONGEST_POLL_MS = 1_000;

export type FreeSpace = {
  readonly bytes: number;
  readonly isFalling: boolean;
  /** At the present speed, the reserve will be touched before its writer can be ended. */
  readonly isReserveAtRisk: boolean;
  /** Until the next poll. */
  readonly pauseMs: number;
};

/** Polls the free space of a file system, more often the closer it is to the reserve. */
export function createFreeSpacePoll(directory: string, reserveBytes: number): () => FreeSpace {
  let samples: { readonly bytes: number; readonly atMs: number }[] = [];
  return () => {
    // Not asynchronous: on a busy disk, other file operations would delay the answer for seconds.
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
