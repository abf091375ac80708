import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';

export async function listPrunableSecretSets(db: Database, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('secret_revisions')
    .select('set_id')
    .groupBy('set_id')
    .having(sql<number>`count(*)`, '>', count)
    .orderBy('set_id')
    .execute();
  return rows.map(({ set_id: id }) => id);
}

export async function deleteRevisions(db: Database, setId: string, revisions: readonly number[]): Promise<void> {
  await db.deleteFrom('secret_revisions').where('set_id', '=', setId).where('revision', 'in', revisions).execute();
}

export async function deleteValuesExcept(
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
