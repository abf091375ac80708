import type { AuditVerification } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { type AuditEvent, chainHash, chainStart } from './chain.ts';
import { type AuditRow, eventsAfter, findCheckpoint } from './rows.ts';

const batch = 1_000;

/**
 * Walks the log of an organization as it is at one moment, from what was removed by age to its end. What was taken off the end
 * no walk can see: `lastHash` of an earlier one shows it.
 */
export function verifyAudit(
  context: { readonly db: Database },
  scope: { readonly organizationId: string },
): Promise<AuditVerification> {
  const inOneMoment = context.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return inOneMoment.execute((db) => walk(db, scope.organizationId));
}

async function walk(db: Database, organizationId: string): Promise<AuditVerification> {
  const checkpoint = await findCheckpoint(db, organizationId);
  const removed = checkpoint?.sequence ?? 0;
  let previous: Buffer = checkpoint?.hash ?? chainStart;
  let sequence = removed;
  const result = (brokenAt: number | null) => ({
    ok: brokenAt === null,
    entries: sequence - removed,
    firstSequence: sequence === removed ? null : removed + 1,
    lastSequence: sequence === removed ? null : sequence,
    lastHash: previous.toString('hex'),
    removedThrough: checkpoint === undefined ? null : removed,
    brokenAt,
  });
  // Sequences begin with 1; what is left of what was removed breaks the log as well.
  for (let from = 0; ; from = sequence) {
    const rows = await eventsAfter(db, organizationId, from, batch);
    for (const row of rows) {
      if (!follows(row, previous, sequence + 1)) return result(sequence + 1);
      previous = row.hash;
      sequence += 1;
    }
    if (rows.length < batch) return result(null);
  }
}

function follows(row: AuditRow, previous: Buffer, sequence: number): boolean {
  const hash = chainHash(previous, row.organization_id, sequence, eventOf(row));
  return row.sequence === sequence && row.previous_hash.equals(previous) && row.hash.equals(hash);
}

function eventOf(row: AuditRow): AuditEvent {
  return {
    at: row.at,
    actor: {
      keyId: row.actor_key_id,
      ...(row.actor_key_name === null ? {} : { keyName: row.actor_key_name }),
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
