import type { Database } from '../store/tables.ts';
import { type AuditEvent, chainHash, chainStart } from './chain.ts';
import { type AuditRow, eventsAfter } from './rows.ts';

const batch = 1_000;

/** Walks the log of an organization: how many events it has, and the sequence of the first one that is not as it was written. */
export async function verifyAudit(
  db: Database,
  organizationId: string,
): Promise<{ readonly events: number; readonly brokenAt: number | null }> {
  let previous: Buffer = chainStart;
  let events = 0;
  for (;;) {
    const rows = await eventsAfter(db, organizationId, events, batch);
    for (const row of rows) {
      if (!follows(row, previous, events + 1)) return { events, brokenAt: events + 1 };
      previous = row.hash;
      events += 1;
    }
    if (rows.length < batch) return { events, brokenAt: null };
  }
}

function follows(row: AuditRow, previous: Buffer, sequence: number): boolean {
  const hash = chainHash(previous, row.organization_id, sequence, eventOf(row));
  return row.sequence === sequence && row.previous_hash.equals(previous) && row.hash.equals(hash);
}

function eventOf(row: AuditRow): AuditEvent {
  return {
    at: row.at,
    actorKeyId: row.actor_key_id,
    action: row.action,
    object: row.object,
    region: row.region,
    keys: row.keys,
    revisionBefore: row.revision_before,
    revisionAfter: row.revision_after,
    result: row.result,
  };
}
