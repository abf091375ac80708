import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@bothost/contract';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Telemetry } from '../metrics/telemetry.ts';

/** Rate of refused session starts per organization. Up to this rate, responses are not delayed. */
const promptRefusals = { burst: 20, perSecond: 20 };
const delayMs = 1_000;

/** Counts the refusal if the error is `at-capacity`. Resolves when the response may be sent. */
export type CapacityRefusal = (agent: RefusingAgent, error: unknown) => Promise<void>;

export type RefusingAgent = { readonly organizationId: string; readonly agentName: string };

/**
 * Delays the responses to an organization that keeps starting sessions while it has no capacity. Without the delay, a client
 * that retries at once would keep the service busy and slow down the starts of other organizations. Calls `record` before each
 * response that is not delayed.
 */
export function createCapacityRefusal(context: {
  readonly now: () => Date;
  readonly telemetry: Pick<Telemetry, 'sessionStarted'>;
  readonly record: (agent: RefusingAgent) => Promise<void>;
}): CapacityRefusal {
  const prompt = createRateLimit(promptRefusals, context.now);
  return async (agent, error) => {
    if (!(error instanceof ApiError) || error.reason !== 'at-capacity') return;
    context.telemetry.sessionStarted('refused');
    await (prompt.take(agent.organizationId) ? context.record(agent) : delay(delayMs));
  };
}
