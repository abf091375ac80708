import type { AuditVerification } from '@bothost/contract';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { type AuditEvent, computeChainHash, initialPreviousHash } from './chain.ts';
import { type AuditRow, listEventsAfter } from './rows.ts';

const batch = 1_000;

/**
 * Verifies an organization's log from its oldest to its newest stored entry, in one snapshot. Does not detect the
 * removal of entries at the beginning or the end; for this, compare `firstSequence`, `lastSequence` and `lastHash` with
 * those of an earlier run.
 */
export function verifyAudit(
  context: { readonly db: Database },
  scope: { readonly organizationId: string },
): Promise<AuditVerification> {
  return readSnapshot(context.db, (db) => verifyChain(db, scope.organizationId));
}

async function verifyChain(db: Database, organizationId: string): Promise<AuditVerification> {
  let rows = await listEventsAfter(db, organizationId, 0, batch);
  const oldest = rows[0];
  const first = oldest?.sequence ?? 1;
  // Retention may have removed earlier entries, so the previous hash of the oldest remaining entry is trusted.
  let previous = first === 1 ? initialPreviousHash : (oldest?.previous_hash ?? initialPreviousHash);
  let next = first;
  const result = (brokenAt: number | null) => ({
    ok: brokenAt === null,
    entries: next - first,
    firstSequence: next === first ? null : first,
    lastSequence: next === first ? null : next - 1,
    lastHash: previous.toString('hex'),
    removedThrough: first === 1 ? null : first - 1,
    brokenAt,
  });
  while (rows.length > 0) {
    for (const row of rows) {
      if (!isNext(row, previous, next)) return result(next);
      previous = row.hash;
      next += 1;
    }
    rows = await listEventsAfter(db, organizationId, next - 1, batch);
  }
  return result(null);
}

function isNext(row: AuditRow, previous: Buffer, sequence: number): boolean {
  const hash = computeChainHash(previous, row.organization_id, sequence, eventOf(row));
  return row.sequence === sequence && row.previous_hash.equals(previous) && row.hash.equals(hash);
}

function eventOf(row: AuditRow): AuditEvent {
  return {
    at: row.at,
    actor: {
      keyId: row.actor_key_id,
      ...(row.actor_key_name === null ? {} : { keyName: row.actor_key_name }),
      ...(row.actor_user_id === null || row.actor_user_email === null
        ? {}
        : { person: { id: row.actor_user_id, email: row.actor_user_email } }),
      ...(row.address === null ? {} : { address: row.address }),
      ...(row.request_id === null ? {} : { requestId: row.request_id }),
    },
    action: row.action,
    object: row.object,
    region: row.region,
    keys: row.keys,
    revisionBefore: row.revision_before,
    revisionAfter: row.revision_after,
    result: row.result,
    count: row.count,
  };
}
