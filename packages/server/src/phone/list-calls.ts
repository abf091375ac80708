import { createApiError, type PhoneCall } from '@bothost/contract';
import { findCalledAgent } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { listCallRows } from './rows.ts';

/**
 * Lists the calls of an agent, newest first, with the refused calls of the organization that name no agent.
 *
 * @throws failure `not-found`
 */
export async function listPhoneCalls(
  { db }: { readonly db: Database },
  { organizationId }: { readonly organizationId: string },
  agentName: string,
  page: { readonly limit: number; readonly since?: string | undefined },
): Promise<PhoneCall[]> {
  const agent = await findCalledAgent(db, organizationId, agentName);
  if (agent === null) throw createApiError('not-found');
  const since = new Date(page.since ?? 0);
  const rows = await listCallRows(db, { id: agent.id, organizationId, name: agentName }, { since, limit: page.limit });
  return rows.map((call) => ({ ...call, at: call.at.toISOString() }));
}
