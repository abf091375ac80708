import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@bothost/contract';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Telemetry } from '../metrics/telemetry.ts';

/** Refusals that an organization gets without delay. */
const promptRefusals = { burst: 20, perSecond: 20 };
const delayMs = 1_000;

/** Counts a start that failed for lack of capacity. Resolves when the response may be sent, for other failures at once. */
export type CapacityRefusal = (organizationId: string, error: unknown) => Promise<void>;

/**
 * Delays the refusals of an organization that starts sessions again and again while it has no capacity. Without the delay, a
 * client that retries at once would keep the service busy and slow down the starts of other organizations.
 */
export function createCapacityRefusal(now: () => Date, telemetry: Pick<Telemetry, 'sessionStarted'>): CapacityRefusal {
  const prompt = createRateLimit(promptRefusals, now);
  return async (organizationId, error) => {
    if (!(error instanceof ApiError) || error.reason !== 'at-capacity') return;
    telemetry.sessionStarted('refused');
    if (!prompt.take(organizationId)) await delay(delayMs);
  };
}
