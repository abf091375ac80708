import { type ApiError, type PhoneCarrier, resourceNameLengthLimits } from '@bothost/contract';
import { findCalledAgent } from '../agents/find.ts';
import type { RateLimit } from '../concurrency/rate-limit.ts';
import type { ServiceContext } from '../context.ts';
import { findOrganizationByPathName } from '../organizations/find.ts';
import { CallRefusedError } from './call-refusal.ts';
import { insertRefusedCall } from './rows.ts';

type Context = Pick<ServiceContext, 'db' | 'now' | 'newId' | 'logger'> & {
  /** Limits how many refused calls are stored for each organization. */
  readonly refusedCallRate: RateLimit;
};

export type RefusedCall = {
  readonly requestId: string;
  readonly carrier: PhoneCarrier;
  /** Whom the call was for. Null if the carrier did not say it. */
  readonly called: { readonly agentName: string; readonly organization: string } | null;
  readonly failure: ApiError;
};

/**
 * Records why a phone call was refused, because carriers do not show the response: in the service's log, and in the log of its
 * agent. If the agent does not exist, the lists of calls of all
 * agents of the organization show it. Never rejects.
 */
export async function recordRefusedCall(context: Context, call: RefusedCall): Promise<void> {
  const { requestId, carrier, called, failure } = call;
  const { cause } = failure;
  const reason = cause instanceof CallRefusedError ? cause.refusal : failure.reason;
  // The cause of a failure of the service is for the operator alone.
  const message = cause instanceof Error && failure.status < 500 ? cause.message : failure.message;
  const agentName = shorten(called?.agentName ?? '');
  const organization = shorten(called?.organization ?? '');
  const names = called === null ? {} : { agent: agentName, organization };
  context.logger.warn({ requestId, carrier, ...names, reason, why: message }, 'call refused');
  try {
    const owner = await findOrganizationByPathName(context.db, organization);
    if (owner === null || !context.refusedCallRate.take(owner.id)) return;
    const agent = await findCalledAgent(context.db, owner.id, agentName);
    await insertRefusedCall(context.db, {
      id: context.newId(),
      organization_id: owner.id,
      agent_id: agent?.id ?? null,
      deployment_id: agent?.deploymentId ?? null,
      // A name may contain a NUL character, which PostgreSQL rejects.
      agent_name: agentName.replaceAll('\0', '\ufffd'),
      carrier,
      reason,
      message: message.replaceAll('\0', '\ufffd'),
      at: context.now(),
    });
  } catch (error) {
    context.logger.warn({ requestId, err: error }, 'refused call not stored');
  }
}

/** Shortens a name for the log, because a client can send names of any length. */
function shorten(name: string): string {
  return name.slice(0, resourceNameLengthLimits.maximum);
}
