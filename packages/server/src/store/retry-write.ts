import { setTimeout as delay } from 'node:timers/promises';
import { isTransientError } from './connection-error.ts';

const firstMilliseconds = 50;
const longestMilliseconds = 2_000;

/** Retries a write until the database accepts it, while the database is unreachable, full or busy. Stops at `closing`. */
export type Persist = <T>(write: () => Promise<T>) => Promise<T>;

export function createPersist(closing: AbortSignal): Persist {
  return async (write) => {
    for (let wait = firstMilliseconds; ; wait = Math.min(wait * 2, longestMilliseconds)) {
      try {
        return await write();
      } catch (error) {
        if (closing.aborted || !isTransientError(error)) throw error;
        await delay(wait, undefined, { signal: closing });
      }
    }
  };
}
