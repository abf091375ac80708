import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { AgentsTable, Database, DeploymentsTable } from '../store/tables.ts';
import { isUuid } from '../uuid.ts';

export type AgentRow = Selectable<AgentsTable>;
export type DeploymentRow = Selectable<DeploymentsTable>;

/** An agent of the organization by name, or by id, under which a deleted one keeps its sessions. */
export function findAgent(db: Database, organizationId: string, nameOrId: string): Promise<AgentRow | undefined> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((where) => {
      const byName = where.and([where('name', '=', nameOrId), where('deleted_at', 'is', null)]);
      return isUuid(nameOrId) ? where.or([byName, where('id', '=', nameOrId)]) : byName;
    })
    .executeTakeFirst();
}

/**
 * The agent and the deployment that serves, with the agent's row locked until the transaction ends: starts of one agent
 * queue up here, which makes the count against `max_agents` exact.
 */
export async function lockWithActiveDeployment(
  db: Database,
  organizationId: string,
  name: string,
): Promise<LockedAgent | undefined> {
  const { rows } = await sql<LockedAgent>`/* prepared: lock-for-start */
    select agents.id as "agentId", agents.region, deployments.id as "deploymentId",
      deployments.max_agents as "maxAgents", deployments.max_session_seconds as "maxSessionSeconds",
      deployments.websocket_auth as "websocketAuth"
    from agents left join deployments on deployments.id = agents.active_deployment_id
    where agents.organization_id = ${organizationId} and agents.name = ${name} and agents.deleted_at is null
    for no key update of agents`.execute(db);
  return rows[0];
}

type LockedAgent = {
  readonly agentId: string;
  readonly region: string;
  /** These are null when no deployment serves. */
  readonly deploymentId: string | null;
  readonly maxAgents: number | null;
  readonly maxSessionSeconds: number | null;
  readonly websocketAuth: 'none' | 'token' | null;
};

export async function lockAgent(db: Database, agentId: string): Promise<void> {
  await db.selectFrom('agents').select('id').where('id', '=', agentId).modifyEnd(sql`for no key update`).execute();
}

export function agentsOf(db: Database, organizationId: string, region: string | undefined): Promise<AgentRow[]> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(region !== undefined, (query) => query.where('region', '=', region ?? ''))
    .orderBy('name')
    .execute();
}

/** An agent of the organization by name, made if it is not there, with its row locked until the transaction ends. */
export async function requireAgent(db: Database, row: Insertable<AgentsTable>): Promise<AgentRow> {
  await db
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return db
    .selectFrom('agents')
    .selectAll()
    .where('organization_id', '=', row.organization_id)
    .where('name', '=', row.name)
    .where('deleted_at', 'is', null)
    .modifyEnd(sql`for no key update`)
    .executeTakeFirstOrThrow();
}

export async function updateAgent(db: Database, id: string, change: Updateable<AgentsTable>): Promise<void> {
  await db.updateTable('agents').set(change).where('id', '=', id).execute();
}

/** Lets a deployment serve, unless another one is wanted by now. */
export async function serveDesired(db: Database, agentId: string, deploymentId: string, now: Date): Promise<void> {
  await db
    .updateTable('agents')
    .set({ active_deployment_id: deploymentId, updated_at: now })
    .where('id', '=', agentId)
    .where('desired_deployment_id', '=', deploymentId)
    .execute();
}

export async function insertDeployment(db: Database, row: Insertable<DeploymentsTable>): Promise<void> {
  await db.insertInto('deployments').values(row).execute();
}

export function findDeployment(db: Database, id: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst();
}

export function deploymentsByIds(db: Database, ids: readonly string[]): Promise<DeploymentRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return db.selectFrom('deployments').selectAll().where('id', 'in', ids).execute();
}

export async function updateDeployment(db: Database, id: string, change: Updateable<DeploymentsTable>): Promise<void> {
  await db.updateTable('deployments').set(change).where('id', '=', id).execute();
}

/** The deployments that the reconciler of a region looks after: wanted, serving, with instances left, or with files. */
export function openDeployments(db: Database, region: string, alsoIds: readonly string[]) {
  return db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .select([
      'deployments.id',
      'deployments.agent_id',
      'deployments.state',
      'deployments.source',
      'deployments.prepared',
      'deployments.error',
      'deployments.min_agents',
      'deployments.max_agents',
      'deployments.profile',
      'deployments.max_session_seconds',
      'agents.name as agent_name',
      'agents.organization_id',
      'agents.active_deployment_id',
      'agents.desired_deployment_id',
      'agents.deleted_at',
    ])
    .where('agents.region', '=', region)
    .where((where) =>
      where.or([
        where('deployments.id', '=', where.ref('agents.active_deployment_id')),
        where('deployments.id', '=', where.ref('agents.desired_deployment_id')),
        where('deployments.prepared', 'is not', null),
        ...(alsoIds.length === 0 ? [] : [where('deployments.id', 'in', alsoIds)]),
      ]),
    )
    .execute();
}
