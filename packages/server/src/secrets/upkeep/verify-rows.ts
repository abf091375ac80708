import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';

export function keysOfOrganization(db: Database, organizationId: string) {
  return db
    .selectFrom('vault_keys')
    .select(['purpose', 'version'])
    .where('organization_id', '=', organizationId)
    .orderBy('purpose')
    .orderBy('version')
    .execute();
}

export function setIdsOf(db: Database, organizationId: string) {
  return db
    .selectFrom('secret_sets')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .execute();
}

export async function countSets(db: Database, organizationId: string | null): Promise<number> {
  const { count } = await db
    .selectFrom('secret_sets')
    .select(sql<number>`count(*)::int`.as('count'))
    .$if(organizationId !== null, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .executeTakeFirstOrThrow();
  return count;
}

export function setOfOrganization(db: Database, organizationId: string, id: string) {
  return db
    .selectFrom('secret_sets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function valueRowsOfSet(db: Database, setId: string) {
  return db.selectFrom('secret_values').selectAll().where('set_id', '=', setId).orderBy('key').execute();
}

export function deliveriesOf(db: Database, setId: string) {
  return db.selectFrom('secret_deliveries').select(['revision', 'region']).where('set_id', '=', setId).execute();
}

export type LoggedSet = {
  readonly name: string;
  /** Null: the log does not name the set. */
  readonly action: string | null;
  /** The revision that the last change in the log made; null where it deleted the set. */
  readonly logged: number | null;
  /** The revision that the set is at; null where there is none of this name. */
  readonly revision: number | null;
};

/** What the audit log says of each set, and what is there, as of one moment; of what went from the log by its age nothing. */
export async function loggedSets(db: Database, organizationId: string): Promise<LoggedSet[]> {
  const { rows } = await sql<LoggedSet>`
    with said as (select distinct on (lower(object)) object, action, revision_after from audit_events
      where organization_id = ${organizationId} and result = 'done'
        and action in ('secrets.set', 'secrets.unset', 'secrets.rollback', 'secrets.delete')
      order by lower(object), sequence desc),
    sets as (select name, revision, updated_at from secret_sets where organization_id = ${organizationId})
    select coalesce(object, name) as name, action, revision_after as logged, revision
    from said full join sets on lower(name) = lower(object)
    where object is not null
      or not exists (select from audit_checkpoints where organization_id = ${organizationId})
      or updated_at > (select min(at) + interval '1 s' from audit_events where organization_id = ${organizationId})
    order by 1`.execute(db);
  return rows;
}
