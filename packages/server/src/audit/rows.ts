import { type Insertable, type Selectable, sql } from 'kysely';
import type { AuditEventsTable, Database } from '../store/tables.ts';

export type AuditRow = Selectable<AuditEventsTable>;

/** Blocks other writers of an organization's audit log until the transaction ends. */
export async function lockAuditLog(db: Database, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`audit ${organizationId}`}, 0))`.execute(db);
}

export function findLastEvent(db: Database, organizationId: string): Promise<AuditRow | undefined> {
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

/** Lists events whose sequence number is greater than `after`, oldest first. */
export function listEventsAfter(
  db: Database,
  organizationId: string,
  after: number,
  limit: number,
): Promise<AuditRow[]> {
  return db
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute();
}

export type EventFilter = {
  readonly since: Date | null;
  readonly until: Date | null;
  readonly action: string | null;
  /** Name of the affected object, secret key or other detail (case-insensitive). */
  readonly object: string | null;
  /** E-mail address of the person, or name of the API key (case-insensitive). */
  readonly actor: string | null;
  readonly result: string | null;
};

/** Lists one page of events. `beyond` is the last sequence number of the previous page, or null for the first page. */
export function listEventPage(
  db: Database,
  organizationId: string,
  filter: EventFilter,
  page: { readonly order: 'asc' | 'desc'; readonly beyond: number | null; readonly limit: number },
): Promise<AuditRow[]> {
  const { since, until, action, object, actor, result } = filter;
  return db
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(page.beyond !== null, (query) => query.where('sequence', page.order === 'asc' ? '>' : '<', page.beyond))
    .$if(since !== null, (query) => query.where('at', '>=', since))
    .$if(until !== null, (query) => query.where('at', '<', until))
    .$if(action !== null, (query) => query.where('action', '=', action))
    .$if(object !== null, (query) =>
      query.where(
        sql<boolean>`lower(${object}) in (select lower(name) from jsonb_array_elements_text(keys || coalesce(to_jsonb(object), '[]')) as name)`,
      ),
    )
    .$if(actor !== null, (query) =>
      query.where(sql<boolean>`lower(${actor}) in (lower(actor_user_email), lower(actor_key_name))`),
    )
    .$if(result !== null, (query) => query.where('result', '=', result))
    .orderBy('sequence', page.order)
    .limit(page.limit)
    .execute();
}

export async function listOrganizationsWithEventsBefore(db: Database, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where((where) =>
      where.exists(
        where
          .selectFrom('audit_events')
          .select('sequence')
          .whereRef('organization_id', '=', 'organizations.id')
          .where('at', '<', before),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Deletes an organization's oldest events until it reaches an event at or after `before`, which stays. Never deletes the newest
 * event, because the hash chain continues from it. Returns the number of deleted events.
 */
export async function deleteEventsBefore(db: Database, organizationId: string, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from audit_events where organization_id = ${organizationId} and sequence < (
      select coalesce(min(sequence) filter (where at >= ${before}), max(sequence))
      from audit_events where organization_id = ${organizationId})`.execute(db);
  return Number(numAffectedRows ?? 0);
}
