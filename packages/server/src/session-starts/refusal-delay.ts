import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@bothost/contract';
import { createRateLimit } from '../concurrency/rate-limit.ts';

/** Refusals that an organization gets without delay. */
const promptRefusals = { burst: 20, perSecond: 20 };
const delayMs = 1_000;

/** Resolves when the response to a failed start may be sent. */
export type RefusalDelay = (organizationId: string, error: unknown) => Promise<void>;

/**
 * Delays the refusals of an organization that starts sessions again and again while it has no capacity. Without the delay, a
 * client that retries at once would keep the service busy and slow down the starts of other organizations.
 */
export function createRefusalDelay(now: () => Date): RefusalDelay {
  const prompt = createRateLimit(promptRefusals, now);
  return async (organizationId, error) => {
    const isRefusal = error instanceof ApiError && error.reason === 'at-capacity';
    if (isRefusal && !prompt.take(organizationId)) await delay(delayMs);
  };
}
