import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/** Whether there are traces of a deployment, which are not removed now. */
export async function useTraces(db: Database, deploymentId: string, at: Date): Promise<boolean> {
  const rows = await db
    .updateTable('deployment_traces')
    .set({ used_at: at })
    .where('deployment_id', '=', deploymentId)
    .returning('deployment_id')
    .execute();
  return rows.length > 0;
}

export async function insertTraces(db: Database, deploymentId: string, sealed: Buffer, at: Date): Promise<void> {
  await db
    .insertInto('deployment_traces')
    .values({ deployment_id: deploymentId, sealed, used_at: at })
    .onConflict((conflict) => conflict.column('deployment_id').doUpdateSet({ sealed, used_at: at }))
    .execute();
}

export async function tracesOfDeployment(db: Database, deploymentId: string): Promise<Buffer | null> {
  const query = db.selectFrom('deployment_traces').select('sealed').where('deployment_id', '=', deploymentId);
  return (await query.executeTakeFirst())?.sealed ?? null;
}

/** Of deployments that have no instance and no log any more. Returns how many went. */
export async function deleteUnusedTraces(db: Database, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from deployment_traces traces where used_at < ${before}
      and not exists (select from instances where deployment_id = traces.deployment_id and state <> 'ended')
      and not exists (select from instance_logs where deployment_id = traces.deployment_id)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
