import type { WebhookEvent } from '@bothost/contract';
import { toStorableText } from '../store/storable-text.ts';
import type { Database } from '../store/tables.ts';
import { deriveNameBasedUuid } from '../store/uuid.ts';
import { insertDeliveriesOfAgentEvent } from './rows.ts';

export type AgentEvent = {
  readonly event: WebhookEvent;
  readonly agentId: string;
  /** Id of the session, deployment or agent that the event is about. Events with the same subject are sent in order. */
  readonly subject: string;
  /** Distinguishes events of the same kind and subject. An event that is recorded twice is sent once. */
  readonly occurrence?: string;
  readonly at: Date;
  /** The fields of `data` in the payload, beside `service` and `region`. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * Records an event for each webhook that subscribes to it. Call this in the transaction that makes the change which the event
 * reports, after the change has locked the row of the subject: then the event is sent if and only if the change is committed, and
 * events of a subject keep their order.
 */
export async function recordAgentEvent(db: Database, event: AgentEvent): Promise<void> {
  const eventId = deriveNameBasedUuid(event.subject, `${event.event} ${event.occurrence ?? ''}`);
  await insertDeliveriesOfAgentEvent(db, { ...event, eventId, data: toStorableData(event.data) });
}

/** Text that PostgreSQL rejects would otherwise prevent the change that the event reports. */
function toStorableData(data: AgentEvent['data']): AgentEvent['data'] {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? toStorableText(value) : value]),
  );
}
