import type { ConversationLevel, DeploymentProblem } from '@bothost/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { AgentsTable, Database, SecretRevisionPin } from '../store/tables.ts';
import { commitWithoutWaiting } from '../store/transaction.ts';
import { isUuid } from '../store/uuid.ts';

export type AgentRow = Selectable<AgentsTable>;

/** Finds an agent of the organization by name or id. A deleted agent is found only by its id. */
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
 * Locks an agent until the transaction ends, so that concurrent starts cannot exceed `max_agents`. The commit of the transaction
 * does not wait for the disk. Returns undefined if the agent does not exist.
 */
export async function lockAgentWithDeployment(
  db: Database,
  organizationId: string,
  name: string,
): Promise<LockedAgent | undefined> {
  const { rows } = await sql<LockedAgent>`/* prepared: lock-for-start */
    select agents.id as "agentId", agents.region,
      agents.conversation_level as "conversationLevel", agents.conversation_redact as "conversationRedact",
      active_deployment_id as "activeId", deployments.id as "deploymentId",
      deployments.max_agents as "maxAgents", deployments.max_session_seconds as "maxSessionSeconds",
      deployments.websocket_auth as "websocketAuth", deployments.websocket_start as "websocketStart",
      deployments.secret_pins as "secretPins",
      deployments.error_code as "problem"
    from agents left join deployments on deployments.id = agents.active_deployment_id cross join ${commitWithoutWaiting}
    where agents.organization_id = ${organizationId} and agents.name = ${name} and agents.deleted_at is null
    for no key update of agents`.execute(db);
  const [row] = rows;
  // Another deployment was activated while the query waited for the lock, so the joined deployment row is outdated. A
  // second query under the lock is consistent.
  if (row !== undefined && row.activeId !== row.deploymentId) return lockAgentWithDeployment(db, organizationId, name);
  return row;
}

type LockedAgent = {
  readonly agentId: string;
  readonly region: string;
  readonly conversationLevel: ConversationLevel;
  readonly conversationRedact: readonly string[];
  readonly activeId: string | null;
  /** Id of the serving deployment. This and the following fields are null if no deployment serves. */
  readonly deploymentId: string | null;
  readonly maxAgents: number | null;
  readonly maxSessionSeconds: number | null;
  readonly websocketAuth: 'none' | 'token' | null;
  readonly websocketStart: 'full' | 'minimal' | null;
  readonly secretPins: SecretRevisionPin[] | null;
  readonly problem: DeploymentProblem | null;
};

export async function lockAgent(db: Database, agentId: string): Promise<void> {
  await db.selectFrom('agents').select('id').where('id', '=', agentId).modifyEnd(sql`for no key update`).execute();
}

export function listAgentRows(db: Database, organizationId: string, region: string | undefined): Promise<AgentRow[]> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(region !== undefined, (query) => query.where('region', '=', region ?? ''))
    .orderBy('name')
    .execute();
}

/** Finds an agent of the organization by name, or creates it, and locks its row until the transaction ends. */
export async function lockOrInsertAgent(db: Database, row: Insertable<AgentsTable>): Promise<AgentRow> {
  await insertAgent(db, row);
  const agent = await lockAgentByName(db, row.organization_id, row.name);
  // No row is found if the name was taken at the insertion, but the agent was deleted before this transaction could lock it.
  // The name is then available, so insert the agent again.
  return agent ?? lockOrInsertAgent(db, row);
}

export async function updateAgent(db: Database, id: string, change: Updateable<AgentsTable>): Promise<void> {
  await db.updateTable('agents').set(change).where('id', '=', id).execute();
}

/** Finds an agent by name and locks its row until the transaction ends. */
export function lockAgentByName(db: Database, organizationId: string, name: string): Promise<AgentRow | undefined> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
}

/** Inserts an agent. Returns false if the name is taken. */
export async function insertAgent(db: Database, row: Insertable<AgentsTable>): Promise<boolean> {
  const result = await db
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}
