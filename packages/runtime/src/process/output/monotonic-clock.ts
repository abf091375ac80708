import type { Timestamp } from '../../runtime.ts';

/** Hands out timestamps: the time in microseconds, or one more than the last where that is not later. */
export type MonotonicClock = {
  readonly next: () => Timestamp;
  /** What is handed out from now on is later than this. */
  readonly after: (timestamp: Timestamp) => void;
};

export function createMonotonicClock(now: () => Date): MonotonicClock {
  let last: Timestamp = 0;
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
