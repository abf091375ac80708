import { ApiError, ConnectionError } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import type { Messages } from '../output/messages.ts';

/** The delays between attempts sum up to half a minute, which is enough for the service to restart. */
export const retryDelaysMs: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/**
 * Repeats a request after transient errors, with increasing delays. Use it only for idempotent requests, because a request
 * without a response may have been executed.
 */
export async function withRetries<T>(
  { io, messages }: { readonly io: Pick<Io, 'sleep' | 'signal'>; readonly messages: Messages },
  request: () => Promise<T>,
): Promise<T> {
  let hasFailed = false;
  const attempt = async () => {
    const answer = await request();
    if (hasFailed) messages.status(null);
    return answer;
  };
  for (const delayMs of retryDelaysMs) {
    try {
      return await attempt();
    } catch (error) {
      io.signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      hasFailed = true;
      messages.status('The service does not respond; retrying');
      await io.sleep(delayMs);
    }
  }
  return attempt();
}

/** True if the same request may succeed later, because the connection failed or the service is unavailable. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || (error instanceof DOMException && error.name === 'TimeoutError');
}
