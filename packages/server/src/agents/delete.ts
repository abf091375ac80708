import { failure } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { lockAgentByName, updateAgent } from './rows.ts';

/**
 * Deletes an agent: from now on nothing starts, and its name is free. Live sessions go on to their end, and their records
 * stay under its id, which is returned. The reconciler stops idle instances and clears up behind the last session.
 *
 * @throws failure `not-found`
 */
export async function deleteAgent(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string },
  agentName: string,
): Promise<string> {
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    if (agent === undefined) throw failure('not-found');
    const now = context.now();
    await updateAgent(db, agent.id, { deleted_at: now, updated_at: now });
    return agent.id;
  });
}
