import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/**
 * Prepares the serving deployments of a region again after a restore, because a backup does not contain prepared
 * projects. Each deployment serves again once its project is prepared and its first instance is ready. A deployment
 * that was in progress continues only if no deployment of the agent was serving.
 */
export async function resetDeploymentsAfterRestore(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  region: string,
): Promise<void> {
  const at = now();
  await sql`update agents set desired_deployment_id = coalesce(active_deployment_id, desired_deployment_id),
      active_deployment_id = null, updated_at = ${at}
    where region = ${region} and deleted_at is null`.execute(db);
  await sql`update deployments set state = 'preparing', state_at = ${at}, prepared = null, updated_at = ${at},
      error = null, error_code = null, error_at = null
    from agents where agents.region = ${region} and agents.deleted_at is null
      and deployments.id = agents.desired_deployment_id and deployments.state <> 'failed'`.execute(db);
  await sql`update deployments set state = 'failed', state_at = ${at}, updated_at = ${at}, error_at = ${at},
      error = 'The service was restored from a backup before this deployment was ready. Deploy again.',
      error_code = 'PCC_SUPERSEDED'
    from agents where agents.id = deployments.agent_id and agents.region = ${region}
      and deployments.state in ('preparing', 'validating')
      and deployments.id is distinct from agents.desired_deployment_id`.execute(db);
}
