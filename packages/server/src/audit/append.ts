import type { Database } from '../store/tables.ts';
import { computeChainHash, initialPreviousHash, type NewAuditEvent } from './chain.ts';
import { findLastEvent, insertEvent, lockAuditLog } from './rows.ts';

/** Appends an audit entry. Call this last in a transaction, because the log stays locked until the transaction ends. */
export async function appendAudit(db: Database, organizationId: string, event: NewAuditEvent): Promise<void> {
  await lockAuditLog(db, organizationId);
  const last = await findLastEvent(db, organizationId);
  const sequence = (last?.sequence ?? 0) + 1;
  const previous = last?.hash ?? initialPreviousHash;
  await insertEvent(db, {
    organization_id: organizationId,
    sequence,
    at: event.at,
    actor_key_id: event.actor.keyId,
    actor_key_name: event.actor.keyName ?? null,
    actor_user_id: event.actor.person?.id ?? null,
    actor_user_email: event.actor.person?.email ?? null,
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
    hash: computeChainHash(previous, organizationId, sequence, event),
  });
}

/** Appends an entry to the audit logs of several organizations, always in the same order to avoid deadlocks. Call this last, too. */
export async function appendAuditToEach(
  db: Database,
  organizationIds: Iterable<string>,
  event: NewAuditEvent,
): Promise<void> {
  for (const id of [...new Set(organizationIds)].sort()) await appendAudit(db, id, event);
}
