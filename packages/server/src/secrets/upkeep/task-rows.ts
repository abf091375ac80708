import type { Insertable, Selectable } from 'kysely';
import type { Database, VaultTasksTable } from '../../store/tables.ts';

export type TaskRow = Selectable<VaultTasksTable>;

/** False when this work is going on already. The last one of its kind makes room for it. */
export async function insertTask(db: Database, row: Insertable<VaultTasksTable>): Promise<boolean> {
  await db.deleteFrom('vault_tasks').where('task', '=', row.task).where('state', '=', 'done').execute();
  const made = await db
    .insertInto('vault_tasks')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return made.numInsertedOrUpdatedRows === 1n;
}

/** In the order in which they were asked for. */
export function listTasks(db: Database, state: TaskRow['state'] | null = null): Promise<TaskRow[]> {
  return db
    .selectFrom('vault_tasks')
    .selectAll()
    .$if(state !== null, (query) => query.where('state', '=', state ?? 'running'))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Of a task that is still in the state that is proved: one that ended meanwhile has its own proof. */
export async function replaceProof(
  db: Database,
  { id, state }: Pick<TaskRow, 'id' | 'state'>,
  proof: Pick<TaskRow, 'root_key_id' | 'proof'>,
): Promise<void> {
  await db.updateTable('vault_tasks').set(proof).where('id', '=', id).where('state', '=', state).execute();
}

/**
 * Notes, in the transaction that makes them, that an organization has the new keys of a task. They have to go in the order of
 * their ids. False where it was done before, or by another server, or the task is over.
 */
export async function reachOrganization(db: Database, id: string, organizationId: string): Promise<boolean> {
  const reached = await db
    .updateTable('vault_tasks')
    .set({ reached: organizationId })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where((where) => where.or([where('reached', 'is', null), where('reached', '<', organizationId)]))
    .executeTakeFirst();
  return reached.numUpdatedRows === 1n;
}

export async function updateTask(
  db: Database,
  id: string,
  change: Partial<
    Pick<
      Insertable<VaultTasksTable>,
      'state' | 'done' | 'total' | 'findings' | 'updated_at' | 'ended_at' | 'root_key_id' | 'proof'
    >
  >,
): Promise<void> {
  await db.updateTable('vault_tasks').set(change).where('id', '=', id).where('state', '=', 'running').execute();
}
