import { type Insertable, type Selectable, sql } from 'kysely';
import type { AuditCheckpointsTable, AuditEventsTable, Database } from '../store/tables.ts';

export type AuditRow = Selectable<AuditEventsTable>;
export type Checkpoint = Selectable<AuditCheckpointsTable>;

/** Until the transaction ends, nobody else adds to the log of this organization, or takes from it. */
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

export type EventFilter = {
  readonly since: Date | null;
  readonly until: Date | null;
  readonly action: string | null;
  /** In any case. */
  readonly object: string | null;
  readonly result: string | null;
};

/** From the side of `order` on; `beyond` is the sequence that a page before ended with. */
export function pageOfEvents(
  db: Database,
  organizationId: string,
  filter: EventFilter,
  page: { readonly order: 'asc' | 'desc'; readonly beyond: number | null; readonly limit: number },
): Promise<AuditRow[]> {
  const { since, until, action, object, result } = filter;
  return db
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(page.beyond !== null, (query) => query.where('sequence', page.order === 'asc' ? '>' : '<', page.beyond))
    .$if(since !== null, (query) => query.where('at', '>=', since))
    .$if(until !== null, (query) => query.where('at', '<', until))
    .$if(action !== null, (query) => query.where('action', '=', action))
    .$if(object !== null, (query) => query.where(sql`lower(object)`, '=', object?.toLowerCase()))
    .$if(result !== null, (query) => query.where('result', '=', result))
    .orderBy('sequence', page.order)
    .limit(page.limit)
    .execute();
}

export function findCheckpoint(db: Database, organizationId: string): Promise<Checkpoint | undefined> {
  return db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
}

/** Organizations whose log has something older than `before`, other than entries of the action `but`. */
export async function organizationsWithOldEvents(db: Database, before: Date, but: string): Promise<string[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where((where) =>
      where.exists(
        where
          .selectFrom('audit_events')
          .select('sequence')
          .whereRef('organization_id', '=', 'organizations.id')
          .where('at', '<', before)
          .where('action', '<>', but),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** Takes away all up to an event that is there; the log goes on from its hash. */
export async function removeThrough(db: Database, last: Checkpoint): Promise<void> {
  const { organization_id, sequence, hash } = last;
  await db
    .insertInto('audit_checkpoints')
    .values({ organization_id, sequence, hash })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ sequence, hash }))
    .execute();
  await db
    .deleteFrom('audit_events')
    .where('organization_id', '=', organization_id)
    .where('sequence', '<=', sequence)
    .execute();
}
