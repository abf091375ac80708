import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@bothost/contract';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Telemetry } from '../metrics/telemetry.ts';

/** Rate of refused session starts per organization. Up to this rate, responses are not delayed. */
const promptRefusals = { burst: 20, perSecond: 20 };
const delayMs = 1_000;

/**
 * Called with the error of a failed session start. If the error is `at-capacity`, counts the refusal and resolves when the
 * response may be sent. For other errors, resolves at once.
 */
export type CapacityRefusal = (organizationId: string, error: unknown) => Promise<void>;

/**
 * Delays the responses to an organization that keeps starting sessions while it has no capacity. Without the delay, a client
 * that retries at once would keep the service busy and slow down the starts of other organizations.
 */
export function createCapacityRefusal(now: () => Date, telemetry: Pick<Telemetry, 'sessionStarted'>): CapacityRefusal {
  const prompt = createRateLimit(promptRefusals, now);
  return async (organizationId, error) => {
    if (!(error instanceof ApiError) || error.reason !== 'at-capacity') return;
    telemetry.sessionStarted('refused');
    if (!prompt.take(organizationId)) await delay(delayMs);
  };
}
