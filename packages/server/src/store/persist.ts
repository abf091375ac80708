import { setTimeout as delay } from 'node:timers/promises';
import { isPassingError } from './connection-error.ts';

const firstMilliseconds = 50;
const longestMilliseconds = 2_000;

/** Does a write that must not be lost: while the database is away, full or busy it is tried again, until it works or `closing`. */
export type Persist = <T>(write: () => Promise<T>) => Promise<T>;

export function createPersist(closing: AbortSignal): Persist {
  return async (write) => {
    for (let wait = firstMilliseconds; ; wait = Math.min(wait * 2, longestMilliseconds)) {
      try {
        return await write();
      } catch (error) {
        if (closing.aborted || !isPassingError(error)) throw error;
        await delay(wait, undefined, { signal: closing });
      }
    }
  };
}
