import type { Database } from '../store/tables.ts';
import { recordAgentEvent } from '../webhooks/record-event.ts';
import type { AlertRow } from './rows.ts';

/** Records the event `alert.opened` or `alert.closed` for webhooks. Call this in the transaction that changes the incident. */
export function recordIncidentEvent(
  db: Database,
  alert: Pick<AlertRow, 'id' | 'agent_id' | 'kind' | 'threshold' | 'window_minutes'>,
  incident: { readonly id: string; readonly openedAt: Date; readonly closedAt: Date | null },
  details: { readonly value: number | null; readonly url: string | null },
): Promise<void> {
  const { openedAt, closedAt } = incident;
  return recordAgentEvent(db, {
    event: closedAt === null ? 'alert.opened' : 'alert.closed',
    agentId: alert.agent_id,
    subject: alert.id,
    occurrence: incident.id,
    at: closedAt ?? openedAt,
    data: {
      alert_id: alert.id,
      incident_id: incident.id,
      kind: alert.kind,
      threshold: alert.threshold,
      window_minutes: alert.window_minutes,
      value: details.value,
      opened_at: openedAt.toISOString(),
      closed_at: closedAt?.toISOString() ?? null,
      url: details.url,
    },
  });
}
