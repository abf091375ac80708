import { type Insertable, type Selectable, sql } from 'kysely';
import type { AuditEventsTable, Database } from '../store/tables.ts';

export type AuditRow = Selectable<AuditEventsTable>;

/** Until the transaction ends, nobody else adds to the log of this organization. */
export async function lockLog(db: Database, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`audit ${organizationId}`}, 0))`.execute(db);
}

export function lastEvent(db: Database, organizationId: string): Promise<AuditRow | undefined> {
  return db
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function insertEvent(db: Database, row: Insertable<AuditEventsTable>): Promise<void> {
  await db.insertInto('audit_events').values(row).execute();
}

/** In order, after `after`. */
export function eventsAfter(db: Database, organizationId: string, after: number, limit: number): Promise<AuditRow[]> {
  return db
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute();
}
