import type { Database } from '../store/tables.ts';
import { type AuditEvent, chainHash, chainStart } from './chain.ts';
import { insertEvent, lastEvent, lockLog } from './rows.ts';

/**
 * Appends an event to an organization's log. Call it in the transaction of the change that it records, as the last
 * statement: the log stays locked until that transaction ends.
 */
export async function appendAudit(db: Database, organizationId: string, event: AuditEvent): Promise<void> {
  await lockLog(db, organizationId);
  const last = await lastEvent(db, organizationId);
  const sequence = (last?.sequence ?? 0) + 1;
  const previous = last?.hash ?? chainStart;
  await insertEvent(db, {
    organization_id: organizationId,
    sequence,
    at: event.at,
    actor_key_id: event.actor.keyId,
    actor_key_name: event.actor.keyName ?? null,
    address: event.actor.address ?? null,
    request_id: event.actor.requestId ?? null,
    action: event.action,
    object: event.object,
    region: event.region,
    keys: JSON.stringify(event.keys),
    revision_before: event.revisionBefore,
    revision_after: event.revisionAfter,
    result: event.result,
    count: event.count ?? 1,
    previous_hash: previous,
    hash: chainHash(previous, organizationId, sequence, event),
  });
}
