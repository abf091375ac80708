import type { Stamp } from '../runtime.ts';

/** Hands out stamps: the time in microseconds, or one more than the last where that is not later. */
export type Stamps = {
  readonly next: () => Stamp;
  /** What is handed out from now on is later than this. */
  readonly after: (stamp: Stamp) => void;
};

export function createStamps(now: () => Date): Stamps {
  let last: Stamp = 0;
  return {
    next: () => {
      last = Math.max(now().getTime() * 1000, last + 1);
      return last;
    },
    after: (stamp) => {
      last = Math.max(last, stamp);
    },
  };
}
