import { ApiError, ConnectionError } from '@bothost/contract';
import type { Talk } from '../output/talk.ts';
import type { World } from '../world/world.ts';

/** Pauses between attempts in milliseconds: half a minute in all, in which a service is started again. */
export const pauses: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/**
 * Asks again while no usable answer comes, with longer and longer pauses. Only for what may be asked twice: nobody knows
 * whether the request that was not answered arrived. Once there is an answer the status that told of it is gone.
 */
export async function withRetries<T>(
  { world, talk }: { readonly world: Pick<World, 'pause' | 'signal'>; readonly talk: Talk },
  ask: () => Promise<T>,
): Promise<T> {
  let isAway = false;
  const askOnce = async () => {
    const answer = await ask();
    if (isAway) talk.status(null);
    return answer;
  };
  for (const milliseconds of pauses) {
    try {
      return await askOnce();
    } catch (error) {
      world.signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      isAway = true;
      talk.status('The service does not answer; retrying');
      await world.pause(milliseconds);
    }
  }
  return askOnce();
}

/** Whether the same request may well be answered in a while: the connection failed, or the service is away. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || (error instanceof DOMException && error.name === 'TimeoutError');
}
