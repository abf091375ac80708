import { createApiError } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import { requireSecretRevisionsExist } from '../secrets/pin.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database } from '../store/tables.ts';
import { recordAgentEvent } from './audit.ts';
import { createDeployment, type DeploymentCode, findDeployableBuild } from './create-deployment.ts';
import {
  type DeploymentRow,
  findDeployment,
  findDeploymentOfAgent,
  findPreviouslyServingDeployment,
} from './deployment-rows.ts';
import { type AgentRow, findAgent, lockAgentByName } from './rows.ts';
import { toSettings } from './settings.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  hashDirectory: (path: string) => Promise<string>;
};

/**
 * Creates a deployment with the source and settings of an earlier deployment. The new deployment is validated before it serves.
 * `deploymentId` names the earlier deployment. Null selects the serving deployment when a later deployment is pending or has
 * failed. Otherwise, null selects the deployment that served before the current one.
 *
 * @throws failure `not-found`, `deployment-not-found`, `no-earlier-deployment`, `deployment-unavailable`
 */
export async function rollBack(
  context: Context,
  scope: Actor & { readonly organizationId: string },
  agentName: string,
  deploymentId: string | null,
): Promise<void> {
  const found = await findAgent(context.db, scope.organizationId, agentName);
  if (found === undefined || found.deleted_at !== null || found.name !== agentName) throw createApiError('not-found');
  const earlier = await findRollbackTarget(context.db, found, deploymentId);
  // Hash the directory before taking the agent's lock, because session starts wait for that lock.
  const directory = await findUnchangedDirectory(context, earlier);
  await context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    if (agent?.id !== found.id) throw createApiError('not-found');
    const again =
      directory ?? (await findDeployableCode({ ...context, db }, { ...scope, region: agent.region }, earlier));
    if (again === null) throw createApiError('deployment-unavailable');
    await requireSecretRevisionsExist(db, scope.organizationId, earlier.secret_pins);
    const id = await createDeployment({ ...context, db }, agent, {
      ...again,
      settings: toSettings(earlier),
      creator: scope,
      rolledBackFrom: earlier.id,
      secretPins: earlier.secret_pins,
    });
    const keys = [id, `copy of ${earlier.id}`];
    await recordAgentEvent({ ...context, db }, scope, agent, { action: 'agents.rollback', keys });
  });
}

/** Finds the deployment that `deploymentId` names, or by default the deployment that `rollBack` describes. */
export async function findRollbackTarget(
  db: Database,
  agent: AgentRow,
  deploymentId: string | null,
): Promise<DeploymentRow> {
  if (deploymentId !== null) {
    const named = await findDeploymentOfAgent(db, agent.id, deploymentId);
    if (named === undefined) throw createApiError('deployment-not-found');
    return named;
  }
  const { active_deployment_id: active, desired_deployment_id: desired } = agent;
  const before =
    active === null || active === desired
      ? await findPreviouslyServingDeployment(db, agent)
      : await findDeployment(db, active);
  if (before === undefined) throw createApiError('no-earlier-deployment');
  return before;
}

/** The code of an earlier deployment. Null if it is not available any more, or was never: its build or its image. */
async function findDeployableCode(
  context: Pick<Context, 'db' | 'now'>,
  scope: { readonly organizationId: string; readonly region: string },
  { source, prepared, image_digest: digest, image_pull_secret: pullSecret }: DeploymentRow,
): Promise<DeploymentCode | null> {
  if (source.kind === 'directory') return null;
  if (source.kind === 'build') return findDeployableBuild(context, scope, source.buildId);
  return digest === null ? null : { source, prepared, image: { digest, pullSecret } };
}

/** The source of a deployment from a directory. Null if the directory's content has changed since that deployment. */
async function findUnchangedDirectory(
  context: Pick<Context, 'hashDirectory'>,
  { source }: DeploymentRow,
): Promise<DeploymentCode | null> {
  if (source.kind !== 'directory') return null;
  const contentHash = await context.hashDirectory(source.path).catch(() => null);
  return contentHash === source.contentHash ? { source, prepared: null } : null;
}
