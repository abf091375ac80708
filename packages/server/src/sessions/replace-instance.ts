import { maxSessionStartWaitSeconds } from '@bothost/contract';
import { lockAgentForScaling } from '../agents/serving-deployment.ts';
import { claimInstance, type InstanceClaim, type InstanceClaimContext } from '../instances/claim.ts';
import { releaseInstance } from '../instances/lifecycle.ts';
import type { Database } from '../store/tables.ts';
import { recordEvents } from './progress.ts';
import { findStartingSession, updateSessionRow } from './rows.ts';

/** Maximum number of instances that are given up for one session. */
export const maxInstanceReplacements = 3;

export type InstanceReplacement = {
  readonly organizationId: string;
  readonly agentName: string;
  readonly claim: InstanceClaim;
};

/** Returns how many instances were given up for a session. Null if it needs no other one: it is live, or has ended. */
export async function countInstanceReplacements(db: Database, sessionId: string): Promise<number | null> {
  const session = await findStartingSession(db, sessionId);
  return session === undefined ? null : countReplaced(session.events);
}

/**
 * Gives up the instance of a session and claims another one, in one transaction. Call this only if the bot of the instance
 * certainly does not have the session. `cause` becomes an event of the session. Returns null, and changes nothing, if the session
 * is not starting with this instance, if its time to start is over, or if `maxInstanceReplacements` is reached.
 */
export function replaceInstance(
  context: InstanceClaimContext,
  { sessionId, instanceId, cause }: { readonly sessionId: string; readonly instanceId: string; readonly cause: string },
): Promise<InstanceReplacement | null> {
  return context.db.transaction().execute(async (db) => {
    const found = await findStartingSession(db, sessionId);
    if (found === undefined) return null;
    await lockAgentForScaling(db, found.agent_id);
    // Read the events again while the agent is locked.
    const session = await findStartingSession(db, sessionId);
    if (session === undefined || countReplaced(session.events) >= maxInstanceReplacements) return null;
    const now = context.now();
    const since = session.requested_at ?? session.created_at;
    if (now.getTime() >= since.getTime() + maxSessionStartWaitSeconds * 1000) return null;
    if (!(await releaseInstance(db, instanceId, sessionId))) return null;
    await updateSessionRow(db, sessionId, ['starting'], { dispatched_at: null, claimed_at: now, updated_at: now });
    const claim = await claimInstance(
      { ...context, db },
      {
        sessionId,
        agentId: session.agent_id,
        deploymentId: session.deployment_id,
        maxAgents: session.max_agents,
      },
    );
    // The released instance made room for this one, and the lock keeps it.
    if (claim === null) throw new Error(`Session ${sessionId} could not claim another instance.`);
    const event = { code: 'INSTANCE_REPLACED', at: now.toISOString(), detail: { cause } } as const;
    await recordEvents(db, sessionId, [event, ...claim.notices]);
    return { organizationId: session.organization_id, agentName: session.agent_name, claim };
  });
}

function countReplaced(events: readonly { readonly code: string }[]): number {
  return events.filter(({ code }) => code === 'INSTANCE_REPLACED').length;
}
