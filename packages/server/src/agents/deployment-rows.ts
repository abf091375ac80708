import type { DeploymentProblem } from '@bothost/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, DeploymentsTable, StoredInstanceExit } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';

export type DeploymentRow = Selectable<DeploymentsTable>;

/** Activates a validated deployment. Returns false if it is no longer desired. The caller must hold the agent's lock. */
export async function activateValidatedDeployment(
  db: Database,
  agentId: string,
  deploymentId: string,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    with validated as (
      update deployments set state = 'ready', state_at = ${now}, activated_at = ${now}, updated_at = ${now},
        error = null, error_code = null, error_at = null, last_exit = ${exitWithoutOutput}
      from agents where deployments.id = ${deploymentId} and state = 'validating' and agents.id = ${agentId}
        and desired_deployment_id = deployments.id and deleted_at is null
      returning deployments.id
    ), replaced as (
      update deployments set replaced_at = ${now} from agents, validated
      where agents.id = ${agentId} and deployments.id = agents.active_deployment_id
        and deployments.id <> validated.id and replaced_at is null
    )
    update agents set active_deployment_id = validated.id, updated_at = ${now} from validated
    where agents.id = ${agentId} returning agents.id`.execute(db);
  return rows.length === 1;
}

/** The last exit of a deployment without the last output, which is shown with an error only. */
const exitWithoutOutput = sql`(last_exit::jsonb || '{"tail": ""}')::json`;

/** Records that the instances of a deployment start again. */
export async function clearDeploymentProblem(db: Database, id: string, now: Date): Promise<void> {
  await sql`update deployments set error = null, error_code = null, error_at = null, last_exit = ${exitWithoutOutput},
    updated_at = ${now} where id = ${id} and state in ('validating', 'ready')`.execute(db);
}

/** Removes the last output of an instance that a session waited for, and output that an earlier version stored. */
export async function removeLastOutputOfSession(db: Database, sessionId: string): Promise<void> {
  await sql`update deployments set last_exit = ${exitWithoutOutput} from sessions
    where sessions.id = ${sessionId} and deployments.id = sessions.deployment_id and last_exit is not null
      and coalesce(last_exit ->> 'sessionId', case when last_exit::jsonb ? 'sessionId' then '' else ${sessionId} end)
        = ${sessionId}`.execute(db);
}

export async function supersedePendingDeployments(
  db: Database,
  agentId: string,
  byId: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('deployments')
    .set({
      state: 'failed',
      state_at: now,
      updated_at: now,
      error: 'This deployment was not ready before a newer deployment replaced it.',
      error_code: 'PCC_SUPERSEDED',
      error_at: now,
    })
    .where('agent_id', '=', agentId)
    .where('id', '<>', byId)
    .where('state', 'in', ['preparing', 'validating'])
    .execute();
}

/** Changes the minimum and the maximum number of instances of existing deployments. Such a change needs no new deployment. */
export async function updateScaling(
  db: Database,
  ids: readonly string[],
  scaling: { readonly minAgents: number; readonly maxAgents: number },
  now: Date,
): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ min_agents: scaling.minAgents, max_agents: scaling.maxAgents, updated_at: now })
    .where('id', 'in', ids)
    .execute();
}

export function findPreviouslyServingDeployment(
  db: Database,
  agent: { readonly id: string; readonly active_deployment_id: string | null },
): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('agent_id', '=', agent.id)
    .where('activated_at', 'is not', null)
    .$if(agent.active_deployment_id !== null, (query) => query.where('id', '<>', agent.active_deployment_id ?? ''))
    .orderBy('activated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function findNewestDirectoryDeployment(db: Database, agentId: string): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where(sql<string>`source->>'kind'`, '=', 'directory')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function findDeploymentOfAgent(db: Database, agentId: string, id: string): Promise<DeploymentRow | undefined> {
  if (!isUuid(id)) return Promise.resolve(undefined);
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function countDeployments(db: Database, agentId: string): Promise<number> {
  const { count } = await db
    .selectFrom('deployments')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns deployments, newest first. `after` is the id of the last deployment of the previous page. */
export function listDeploymentPage(
  db: Database,
  agentId: string,
  page: { readonly limit: number; readonly offset: number; readonly after: string | null },
): Promise<DeploymentRow[]> {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$if(page.after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (select created_at, id from deployments as last
        where last.id = ${page.after} and last.agent_id = ${agentId})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .$if(page.after === null, (query) => query.offset(page.offset))
    .execute();
}

export async function insertDeployment(db: Database, row: Insertable<DeploymentsTable>): Promise<void> {
  await db.insertInto('deployments').values(row).execute();
}

export function findDeployment(db: Database, id: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findDeploymentsByIds(db: Database, ids: readonly string[]): Promise<DeploymentRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return db.selectFrom('deployments').selectAll().where('id', 'in', ids).execute();
}

export async function updateDeployment(db: Database, id: string, change: Updateable<DeploymentsTable>): Promise<void> {
  await db.updateTable('deployments').set(change).where('id', '=', id).execute();
}

export async function updateUnknownTransports(db: Database, id: string, transports: string): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ transports })
    .where('id', '=', id)
    .where('transports', 'is', null)
    .execute();
}

/** Updates a deployment if its state is one of `states`. Returns false otherwise. */
export async function updateDeploymentIfInState(
  db: Database,
  id: string,
  states: readonly DeploymentsTable['state'][],
  change: Updateable<DeploymentsTable>,
): Promise<boolean> {
  const result = await db
    .updateTable('deployments')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', states)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Records the error and the exit of the last instance that failed to start, and counts consecutive failures. */
export async function recordDeploymentProblem(
  db: Database,
  id: string,
  problem: { readonly code: DeploymentProblem; readonly message: string; readonly exit: StoredInstanceExit | null },
  now: Date,
): Promise<void> {
  await db
    .updateTable('deployments')
    .set((column) => ({
      error: problem.message,
      error_code: problem.code,
      error_at: column.fn.coalesce('error_at', column.val(now)),
      restarts: column('restarts', '+', 1),
      ...(problem.exit === null ? {} : { last_exit: JSON.stringify(problem.exit) }),
      updated_at: now,
    }))
    .where('id', '=', id)
    .where('state', 'in', ['preparing', 'validating', 'ready'])
    .execute();
}

/**
 * Returns the deployments of a region that meet at least one of these conditions:
 * - The deployment is the serving or the desired deployment of an agent that is not deleted.
 * - The deployment runs a directory, and its prepared project was not removed yet.
 * - `alsoIds` contains the id of the deployment.
 */
export function listDeploymentRowsToReconcile(db: Database, region: string, alsoIds: readonly string[]) {
  return db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .leftJoin('builds', 'builds.id', 'deployments.build_id')
    .select([
      'deployments.id',
      'deployments.agent_id',
      'deployments.state',
      'deployments.source',
      'deployments.build_id',
      'deployments.prepared',
      'deployments.image_digest',
      'deployments.image_pull_secret',
      'deployments.secret_pins',
      'deployments.error',
      'deployments.restarts',
      'deployments.transports',
      'deployments.min_agents',
      'deployments.max_agents',
      'deployments.profile',
      'deployments.max_session_seconds',
      'deployments.fork',
      'agents.name as agent_name',
      'agents.organization_id',
      'agents.region',
      'agents.conversation_level',
      'agents.conversation_redact',
      'agents.active_deployment_id',
      'agents.desired_deployment_id',
      'agents.deleted_at',
      'builds.state as build_state',
      'builds.prepared as build_prepared',
      'builds.error as build_error',
    ])
    .where('agents.region', '=', region)
    .where((where) =>
      where.or([
        where.and([
          where('agents.deleted_at', 'is', null),
          where('deployments.id', 'in', [
            where.ref('agents.active_deployment_id'),
            where.ref('agents.desired_deployment_id'),
          ]),
        ]),
        where.and([
          where('deployments.prepared', 'is not', null),
          where(sql<string>`deployments.source->>'kind'`, '=', 'directory'),
        ]),
        ...(alsoIds.length === 0 ? [] : [where('deployments.id', 'in', alsoIds)]),
      ]),
    )
    .execute();
}

/**
 * Returns the ids of builds that are used by a running instance, by a desired or serving deployment, or by one of the latest
 * deployments of an agent (`kept` per agent). Considers only builds in `ids`.
 */
export async function listBuildIdsInUse(db: Database, ids: readonly string[], kept: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct deployments.build_id as id from deployments join agents on agents.id = deployments.agent_id
    where deployments.build_id = any(${ids}::uuid[]) and (
      exists (select from instances where instances.deployment_id = deployments.id and instances.state <> 'ended')
      or agents.deleted_at is null and (
        deployments.id in (agents.desired_deployment_id, agents.active_deployment_id)
        or (select count(*) from deployments later where later.agent_id = deployments.agent_id
            and (later.created_at, later.id) > (deployments.created_at, deployments.id)) < ${kept}))`.execute(db);
  return rows.map(({ id }) => id);
}
