import { isTransientError, retryDelaysMs } from '@bothost/contract';

/** Repeats an idempotent request after transient errors. */
export async function withRetries<T>(request: () => Promise<T>, signal: AbortSignal, wait = delay): Promise<T> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isTransientError(error)) throw error;
      await wait(delayMs, signal);
    }
  }
  return request();
}

/** Waits for `delayMs` milliseconds. Rejects when the signal is aborted. */
export function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
