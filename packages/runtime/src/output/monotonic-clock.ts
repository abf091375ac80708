import type { EpochMicroseconds } from '../runtime.ts';

/** A clock in microseconds. Each timestamp is the current time or the previous timestamp plus 1, whichever is later. */
export type MonotonicClock = {
  readonly next: () => EpochMicroseconds;
  /** Makes all later timestamps of this clock greater than `timestamp`. */
  readonly after: (timestamp: EpochMicroseconds) => void;
};

export function createMonotonicClock(now: () => Date): MonotonicClock {
  let last: EpochMicroseconds = 0;
  return {
    next: () => {
      last = Math.max(now().getTime() * 1000, last + 1);
      return last;
    },
    after: (timestamp) => {
      last = Math.max(last, timestamp);
    },
  };
}
