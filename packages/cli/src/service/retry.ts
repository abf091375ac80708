import { isTransientError, retryDelaysMs } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import type { Messages } from '../output/messages.ts';

/**
 * Repeats a request after transient errors, with increasing delays. Use it only for idempotent requests, because the service may
 * have executed a request even if no response arrived.
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
      if (!isTransientError(error)) throw error;
      hasFailed = true;
      messages.status('The service does not respond; retrying');
      await io.sleep(delayMs);
    }
  }
  return attempt();
}
