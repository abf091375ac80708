import { createApiError, isRoomTransport, type OperationGrantee, type SessionResponse } from '@bothost/contract';
import { computeOpenSessionMetrics } from '../metrics/finish.ts';
import { type StoredMetrics, toResourceMetrics } from '../metrics/resource-metrics.ts';
import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { addEventText, type EventTextReader, splitEventText } from './event-text.ts';
import { findMeetings, findSessionWithMetrics, readsUsage } from './rows.ts';
import { toSessionResponse } from './session-response.ts';

/**
 * Returns one session, for a viewer without text that may quote the conversation. An invalid id, an unknown agent and another
 * organization's session all get the same 404.
 *
 * @throws failure `not-found`
 */
export async function getSession(
  context: { readonly db: Database; readonly readEventText: EventTextReader },
  scope: { readonly organizationId: string; readonly grantee?: OperationGrantee },
  agentName: string,
  sessionId: string,
): Promise<SessionResponse> {
  if (!isUuid(sessionId)) throw createApiError('not-found');
  const row = await findSessionWithMetrics<StoredMetrics>(context.db, scope.organizationId, agentName, sessionId);
  if (row === undefined) throw createApiError('not-found');
  const metrics = row.state === 'ended' ? row.metrics : await computeOpenSessionMetrics(context, row.id);
  const events =
    scope.grantee === 'viewer'
      ? row.events.map((event) => splitEventText(event).event)
      : await Promise.all(row.events.map((event) => showText(context.readEventText, row, event)));
  // Not in the query above, because few sessions need these, and each subquery would slow down every read.
  return toSessionResponse(row, events, {
    resourceMetrics: metrics === null ? null : toResourceMetrics(metrics),
    readsUsage: row.metrics !== null || (await readsUsage(context.db, row.agent_id)),
    meetingIds: isRoomTransport(row.transport) ? await findMeetings(context.db, row.id) : [],
  });
}

async function showText(
  read: EventTextReader,
  session: { readonly id: string; readonly organization_id: string },
  event: StoredSessionEvent,
): Promise<StoredSessionEvent> {
  const text = await read({ id: session.id, organizationId: session.organization_id }, event);
  return text === null ? event : addEventText(event, text);
}
