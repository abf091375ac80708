import { failure } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findAgent } from './rows.ts';

/** The id of an agent by name, or by id, which also finds deleted agents. @throws failure `not-found` */
export async function findAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string> {
  const agent = await findAgent(db, organizationId, nameOrId);
  if (agent === undefined) throw failure('not-found');
  return agent.id;
}
