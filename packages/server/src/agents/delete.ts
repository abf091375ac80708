import { createApiError } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { recordAgentEvent } from './audit.ts';
import { lockAgentByName, updateAgent } from './rows.ts';

/**
 * Deletes an agent and returns its id. No session can start any more, and the name becomes available. Live sessions
 * continue; their records remain available by the agent's id. The reconciler stops idle instances, and cleans up after
 * the last session.
 *
 * @throws failure `not-found`
 */
export async function deleteAgent(
  context: { db: Database; now: () => Date },
  scope: Actor & { readonly organizationId: string },
  agentName: string,
): Promise<string> {
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    if (agent === undefined) throw createApiError('not-found');
    const now = context.now();
    await updateAgent(db, agent.id, { deleted_at: now, updated_at: now });
    await recordAgentEvent({ ...context, db }, scope, agent, { action: 'agents.delete', keys: [agent.id] });
    return agent.id;
  });
}
