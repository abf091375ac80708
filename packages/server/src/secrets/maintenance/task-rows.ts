import type { Insertable, Selectable } from 'kysely';
import type { Database, VaultTasksTable } from '../../store/tables.ts';

export type TaskRow = Selectable<VaultTasksTable>;

/** Inserts a task in place of the finished one of its kind. Returns false if one is already running. */
export async function insertTask(db: Database, row: Insertable<VaultTasksTable>): Promise<boolean> {
  await db.deleteFrom('vault_tasks').where('task', '=', row.task).where('state', '=', 'done').execute();
  const inserted = await db
    .insertInto('vault_tasks')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

export function listTasks(db: Database, state: TaskRow['state'] | null = null): Promise<TaskRow[]> {
  return db
    .selectFrom('vault_tasks')
    .selectAll()
    .$if(state !== null, (query) => query.where('state', '=', state ?? 'running'))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Changes a running task. Does nothing if the task has ended. */
export async function updateTask(
  db: Database,
  id: string,
  change: Partial<
    Pick<Insertable<VaultTasksTable>, 'state' | 'done' | 'total' | 'findings' | 'updated_at' | 'ended_at'>
  >,
): Promise<void> {
  await db.updateTable('vault_tasks').set(change).where('id', '=', id).where('state', '=', 'running').execute();
}
