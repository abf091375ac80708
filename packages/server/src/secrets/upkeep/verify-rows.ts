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

export function pinRowsOfOrganization(db: Database, organizationId: string) {
  return db.selectFrom('secret_pins').selectAll().where('organization_id', '=', organizationId).execute();
}

export function deliveriesOf(db: Database, setId: string) {
  return db.selectFrom('secret_deliveries').select(['revision', 'region']).where('set_id', '=', setId).execute();
}

/** Sets that the audit log says are there, and are not, with the revision that it says they are at; as of one moment. */
export async function lostSets(db: Database, organizationId: string): Promise<{ name: string; logged: number }[]> {
  const { rows } = await sql<{ name: string; logged: number }>`
    with said as (select distinct on (lower(object)) object, action, revision_after from audit_events
      where organization_id = ${organizationId} and result = 'done'
        and action in ('secrets.set', 'secrets.unset', 'secrets.rollback', 'secrets.delete')
      order by lower(object), sequence desc)
    select object as name, revision_after as logged from said
    where action <> 'secrets.delete' and not exists (select from secret_sets
      where organization_id = ${organizationId} and lower(name) = lower(object))
    order by 1`.execute(db);
  return rows;
}
