import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceClaim, InstanceClaimContext } from '../instances/claim.ts';
import type { Sampler } from '../metrics/sampler.ts';
import { replaceInstance } from '../sessions/replace-instance.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { StoreContext } from '../store/store-context.ts';

type Context = InstanceClaimContext &
  Pick<StoreContext, 'logger' | 'retryWrite'> & {
    readonly sessionAddresses: Pick<SessionAddressRegistry, 'expect'>;
    readonly sampler: Pick<Sampler, 'forget'>;
    readonly requestReconcile: () => void;
  };

/**
 * Gives a session another instance, because the bot of its instance certainly does not have it. Returns the new claim, whose address
 * is null if its instance is not ready yet. Returns null if the session gets no other instance and must end.
 */
export type InstanceReplacer = (
  session: { readonly id: string; readonly instanceId: string },
  cause: string,
) => Promise<InstanceClaim | null>;

export function createInstanceReplacer(context: Context): InstanceReplacer {
  return async ({ id: sessionId, instanceId }, cause) => {
    const replaced = await context.retryWrite(() => replaceInstance(context, { sessionId, instanceId, cause }));
    if (replaced === null) return null;
    const { claim, organizationId, agentName } = replaced;
    context.logger.warn({ sessionId, instanceId, by: claim.instanceId, cause }, 'instance of session replaced');
    // The next reading belongs to another instance.
    context.sampler.forget(sessionId);
    const { address } = claim;
    context.sessionAddresses.expect({ sessionId, organizationId, agentName, instanceId: claim.instanceId, address });
    context.requestReconcile();
    return claim;
  };
}

/** Milliseconds before a session gets its second, third and fourth instance, because the platform may need time. */
const replacementDelaysMs = [1_000, 10_000, 50_000];

export async function waitBeforeReplacement(earlierReplacements: number, signal: AbortSignal): Promise<void> {
  const options = { signal, ref: false };
  await delay(replacementDelaysMs[earlierReplacements], undefined, options).catch(() => undefined);
}
