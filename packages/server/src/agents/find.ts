import { createApiError } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findAgent } from './rows.ts';

/**
 * Returns the id of an agent, given its name or id. A deleted agent is found only by its id.
 *
 * @throws failure `not-found`
 */
export async function requireAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string> {
  const id = await findAgentId(db, organizationId, nameOrId);
  if (id === undefined) throw createApiError('not-found');
  return id;
}

/** Returns the id of an agent, or undefined if the agent does not exist. */
export async function findAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string | undefined> {
  return (await findAgent(db, organizationId, nameOrId))?.id;
}
