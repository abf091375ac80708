import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

export type LoggedRevision = {
  /** Null: the log does not name the set. */
  readonly action: string | null;
  /** The revision that the last change in the log made; null where it deleted the set. */
  readonly logged: number | null;
  /** What the log said of the set may have gone by its age. */
  readonly isOld: boolean;
};

/** What the audit log says last of one set, or of all of an organization, by id: one look into an index for each. */
export async function loggedRevisions(
  db: Database,
  organizationId: string,
  setId: string | null,
): Promise<ReadonlyMap<string, LoggedRevision>> {
  const only = setId === null ? sql`true` : sql`sets.id = ${setId}`;
  // By the oldest entry that is left, and one always is: what went was older. Clocks of servers may differ, so by an hour.
  const { rows } = await sql<LoggedRevision & { id: string }>`
    select sets.id, last.action, last.revision_after as logged,
      case when last.action is not null then false else
        not exists (select from audit_events where organization_id = ${organizationId} and sequence = 1)
        and coalesce(sets.updated_at < (select at + interval '1 h' from audit_events
          where organization_id = ${organizationId} order by sequence limit 1), false) end as "isOld"
    from secret_sets sets left join lateral (select action, revision_after from audit_events
      where organization_id = ${organizationId} and lower(object) = lower(sets.name) and result = 'done'
        and action in ('secrets.set', 'secrets.unset', 'secrets.rollback', 'secrets.delete')
      order by sequence desc limit 1) last on true
    where sets.organization_id = ${organizationId} and ${only}`.execute(db);
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
