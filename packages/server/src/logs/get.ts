import type { Operations, RequestOf, ResponseOf } from '@bothost/contract';
import { findAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';

type Get = Operations['getLogs'];

/** Cloud API 5.4. @throws failure `not-found`, `invalid-request` */
export async function getLogs(
  context: { db: Database },
  scope: { organizationId: string },
  agentName: string,
  _query: RequestOf<Get>['query'],
): Promise<ResponseOf<Get>> {
  await findAgentId(context.db, scope.organizationId, agentName);
  return { total: { value: 0, relation: 'eq' }, logs: [], nextCursor: null, followCursor: null };
}
