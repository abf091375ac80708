import { createApiError, type OperationGrantee, type SessionResponse } from '@bothost/contract';
import { computeOpenSessionMetrics } from '../metrics/finish.ts';
import { type StoredMetrics, toResourceMetrics } from '../metrics/present.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { toSessionResponse } from './present.ts';
import { findSessionWithMetrics } from './rows.ts';

/**
 * Returns one session. For a viewer, without text that may quote the conversation. An invalid id, an unknown agent and another organization's session all get the same 404.
 *
 * @throws failure `not-found`
 */
export async function getSession(
  context: { db: Database },
  scope: { readonly organizationId: string; readonly grantee?: OperationGrantee },
  agentName: string,
  sessionId: string,
): Promise<SessionResponse> {
  if (!isUuid(sessionId)) throw createApiError('not-found');
  const row = await findSessionWithMetrics<StoredMetrics>(context.db, scope.organizationId, agentName, sessionId);
  if (row === undefined) throw createApiError('not-found');
  const metrics = row.state === 'ended' ? row.metrics : await computeOpenSessionMetrics(context, row.id);
  return toSessionResponse(row, metrics === null ? null : toResourceMetrics(metrics), scope.grantee !== 'viewer');
}
