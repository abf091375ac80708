import type { ConversationFollowers } from '../conversations/followers.ts';
import { getInstanceAddress } from '../instances/address.ts';
import type { OpenInstanceRow } from '../instances/lifecycle.ts';
import type { Sampler } from '../metrics/sampler.ts';
import { findSessionStartBody, findSessionState, type OpenSessionRow } from '../sessions/progress.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import { isColdStart } from './cold-start.ts';
import { resumeSession, type SessionDispatchContext } from './dispatch.ts';
import { takeSession } from './take-session.ts';
import type { WatchedSession } from './watch-start.ts';

export type AdoptionContext = Omit<SessionDispatchContext, 'watchStart'> & {
  readonly watchStart: (session: WatchedSession) => void;
  readonly sessionAddresses: SessionAddressRegistry;
  readonly sampler: Pick<Sampler, 'begin'>;
  readonly conversationFollowers: Pick<ConversationFollowers, 'begin'>;
  /** Whether the address of an instance is known to be that of its bot, which has not ended. */
  readonly isInstanceReachable: (instanceId: string) => boolean;
};

/** Takes ownership of a session whose instance is ready. If this fails, the next pass retries. */
export async function adoptSession(
  context: AdoptionContext,
  row: OpenSessionRow,
  instance: OpenInstanceRow,
): Promise<void> {
  const { db, retryWrite } = context;
  if (context.ownership.has(row.id) || row.transport === 'websocket') return;
  const address = getInstanceAddress(instance);
  if (address === null) return;
  const entry = { organizationId: row.organization_id, agentName: row.agent_name, instanceId: instance.id, address };
  const session = {
    id: row.id,
    instanceId: instance.id,
    address,
    organizationId: row.organization_id,
    transport: row.transport,
    requestedAt: row.requested_at,
  };
  const claim = async () => {
    // Read the state again, because the session or its instance may have ended after `row` was read.
    const current = await retryWrite(() => findSessionState(db, row.id));
    const isOpen = current?.state === 'starting' || current?.state === 'live';
    return isOpen && context.isInstanceReachable(instance.id)
      ? { entry, isServedHere: true }
      : { entry: null, isServedHere: false };
  };
  await takeSession(context, row.id, claim, async ({ isServedHere }) => {
    if (!isServedHere) return;
    context.sampler.begin(row.id, instance.id);
    context.conversationFollowers.begin(row.id, instance.id);
    if (row.bot_started_at !== null) context.watchStart(session);
    await resumeSession(context, {
      ...session,
      reportsSession: instance.reports_session,
      maxSeconds: row.max_session_seconds,
      // A session of an earlier version has no level. Its bot was not asked to keep anything.
      conversationLevel: row.conversation_level ?? 'off',
      conversationRedact: row.conversation_redact,
      cold: isColdStart(instance, row.requested_at),
      claimedAt: row.claimed_at,
      readyAt: instance.ready_at,
      body: await retryWrite(() => findSessionStartBody(db, row.id)),
      dispatchedAt: row.dispatched_at,
      botStartedAt: row.bot_started_at,
    });
  });
}
