import { ApiError, ConnectionError } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import type { Messages } from '../output/messages.ts';

/** Delays between attempts: half a minute in total, enough for a restart of the service. */
export const retryDelaysMs: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/**
 * Repeats a request after transient errors, with increasing delays. Only for idempotent requests: a request without a
 * response may have been executed. The status line shows the retries.
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

/** Whether the same request can succeed later: the connection failed, or the service is unavailable. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || (error instanceof DOMException && error.name === 'TimeoutError');
}
