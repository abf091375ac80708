import { type Selectable, sql } from 'kysely';
import type { Database, SecretSetsTable } from '../../store/tables.ts';

/** Sets that have more than so many revisions. */
export async function setsWithMore(db: Database, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('secret_sets')
    .select('id')
    .where(sql<number>`cardinality(revisions)`, '>', count)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

export function lockSet(db: Database, id: string): Promise<Selectable<SecretSetsTable> | undefined> {
  return db.selectFrom('secret_sets').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** With their deliveries. */
export async function deleteRevisions(db: Database, setId: string, revisions: readonly number[]): Promise<void> {
  await db.deleteFrom('secret_revisions').where('set_id', '=', setId).where('revision', 'in', revisions).execute();
}

/** All values of a set but these. */
export async function deleteValuesBut(
  db: Database,
  setId: string,
  entries: readonly (readonly [string, number])[],
): Promise<void> {
  const keys = entries.map(([key]) => key);
  const revisions = entries.map(([, revision]) => revision);
  await db
    .deleteFrom('secret_values')
    .where('set_id', '=', setId)
    .where(sql<boolean>`(key, revision) not in (select * from unnest(${keys}::text[], ${revisions}::integer[]))`)
    .execute();
}
