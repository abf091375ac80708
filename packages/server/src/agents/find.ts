import { failure } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findAgent } from './rows.ts';

/**
 * Returns the id of an agent, given its name or id. A deleted agent is found only by its id.
 *
 * @throws failure `not-found`
 */
export async function findAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string> {
  const agent = await findAgent(db, organizationId, nameOrId);
  if (agent === undefined) throw failure('not-found');
  return agent.id;
}
