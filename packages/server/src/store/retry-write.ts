import { setTimeout as delay } from 'node:timers/promises';
import { isTransientError } from './connection-error.ts';

const firstMs = 50;
const longestMs = 2_000;

/** Retries a write while the database is unreachable, full or busy. Stops retrying when the service closes. */
export type RetryWrite = <T>(write: () => Promise<T>) => Promise<T>;

export function createRetryWrite(closing: AbortSignal): RetryWrite {
  return async (write) => {
    for (let wait = firstMs; ; wait = Math.min(wait * 2, longestMs)) {
      try {
        return await write();
      } catch (error) {
        if (closing.aborted || !isTransientError(error)) throw error;
        await delay(wait, undefined, { signal: closing });
      }
    }
  };
}
