import { ConnectionError } from './client.ts';
import { ApiError } from './errors.ts';

/** Delays between attempts, half a minute in total: long enough for a restart of the service. */
export const requestRetryDelaysMs: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/**
 * Returns whether the same request may succeed later: true for a connection error, a timeout, and the statuses 502, 503 and 504.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || (error instanceof DOMException && error.name === 'TimeoutError');
}

/**
 * Repeats a request after transient errors, with increasing delays. Use it only for idempotent requests, because the service may
 * have executed a request even if no response arrived. Rejects with the signal's reason when the signal is aborted.
 */
export async function withRetries<T>(
  request: () => Promise<T>,
  signal: AbortSignal,
  wait: (delayMs: number) => Promise<void> = (delayMs) => delay(delayMs, signal),
): Promise<T> {
  for (const delayMs of requestRetryDelaysMs) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransientError(error)) throw error;
      await wait(delayMs);
    }
  }
  return request();
}

/** Resolves after the delay. Rejects with the signal's reason when the signal is aborted. */
export function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
