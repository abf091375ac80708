import type { Insertable, Selectable } from 'kysely';
import type { Database, PullSecretChecksTable } from '../store/tables.ts';

export type CheckRow = Selectable<PullSecretChecksTable>;

export function checkRowsOf(db: Database, setId: string): Promise<CheckRow[]> {
  return db.selectFrom('pull_secret_checks').selectAll().where('set_id', '=', setId).orderBy('revision').execute();
}

/** Takes the place of the check before. */
export async function keepCheck(db: Database, row: Insertable<PullSecretChecksTable>): Promise<void> {
  const { set_id: _, revision: __, ...told } = row;
  await db
    .insertInto('pull_secret_checks')
    .values(row)
    .onConflict((conflict) => conflict.columns(['set_id', 'revision']).doUpdateSet(told))
    .execute();
}
