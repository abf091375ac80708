import { ApiError, ConnectionError } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import type { Messages } from '../output/messages.ts';

/** Pauses between attempts in milliseconds: half a minute in all, in which a service is started again. */
export const retryDelaysMs: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/**
 * Asks again while no usable answer comes, with longer and longer pauses. Only for what may be asked twice: nobody knows
 * whether the request that was not answered arrived. Once there is an answer the status that told of it is gone.
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
      messages.status('The service does not answer; retrying');
      await io.sleep(delayMs);
    }
  }
  return attempt();
}

/** Whether the same request may well be answered in a while: the connection failed, or the service is away. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || (error instanceof DOMException && error.name === 'TimeoutError');
}
