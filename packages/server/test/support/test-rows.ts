import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Migration } from '../../src/store/migrate.ts';
import type {
  AgentsTable,
  Database,
  DeploymentsTable,
  InstancesTable,
  SessionsTable,
  Tables,
} from '../../src/store/tables.ts';
import { newId } from '../../src/store/uuid.ts';
import { createTestDatabase, openTestConnections, type TestDatabase } from './test-database.ts';

export const testNow = new Date('2026-11-20T12:00:00.000Z');

/** Returns the time a number of seconds before `testNow`. */
export function secondsAgo(seconds: number): Date {
  return new Date(testNow.getTime() - seconds * 1000);
}

export type DeployedAgent = {
  readonly organizationId: string;
  readonly agentId: string;
  readonly deploymentId: string;
  readonly hostId: string;
};

/** A database, and functions that insert rows and return their ids, and that read and change a row. */
export type TestDatabaseRows = {
  readonly db: Database;
  readonly database: TestDatabase;
  readonly organization: (name?: string) => Promise<string>;
  readonly host: (region?: string) => Promise<string>;
  readonly agent: (organizationId: string, fields?: Partial<Insertable<AgentsTable>>) => Promise<string>;
  /** Inserts a deployment of an agent. The agent's sessions use this deployment, unless `fields` say otherwise. */
  readonly deployment: (agentId: string, fields?: Partial<Insertable<DeploymentsTable>>) => Promise<string>;
  /** Inserts an agent with a deployment. Without `hostId`, all agents share one host. */
  readonly deployedAgent: (of?: {
    readonly organizationId?: string;
    readonly hostId?: string;
    readonly agent?: Partial<Insertable<AgentsTable>>;
    readonly deployment?: Partial<Insertable<DeploymentsTable>>;
  }) => Promise<DeployedAgent>;
  readonly session: (
    of: { organizationId: string; agentId: string; deploymentId: string },
    fields?: Partial<Insertable<SessionsTable>>,
  ) => Promise<string>;
  readonly instance: (
    of: { agentId: string; deploymentId: string; hostId: string },
    fields?: Partial<Insertable<InstancesTable>>,
  ) => Promise<string>;
  /** Returns the row with an id. */
  readonly find: <Name extends keyof Tables>(table: Name, id: string) => Promise<Selectable<Tables[Name]>>;
  readonly update: <Name extends keyof Tables>(
    table: Name,
    id: string,
    fields: Partial<Updateable<Tables[Name]>>,
  ) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function createTestDatabaseRows(migrations?: readonly Migration[]): Promise<TestDatabaseRows> {
  const database = await createTestDatabase(migrations);
  const db = await openTestConnections(database, 5);
  // A region has one host.
  let ownHost: Promise<string> | undefined;
  const rows: TestDatabaseRows = {
    db,
    database,
    organization: (name = `org-${newId()}`) =>
      insert(db, 'organizations', { name, verbose_name: name, default_region: 'us-west', created_at: testNow }),
    host: (region = 'us-west') =>
      insert(db, 'hosts', { region, runtime: 'process', description: 'a test', heartbeat_at: testNow }),
    agent: (organizationId, fields) =>
      insert(db, 'agents', {
        organization_id: organizationId,
        name: 'parrot',
        region: 'us-west',
        created_at: testNow,
        updated_at: testNow,
        ...fields,
      }),
    deployment: async (agentId, fields) => {
      const id = await insert(db, 'deployments', {
        agent_id: agentId,
        source: JSON.stringify({ kind: 'directory', path: '/bots/parrot', contentHash: 'hash' }),
        state: 'ready',
        prepared: '{}',
        min_agents: 0,
        max_agents: 2,
        profile: 'agent-1x',
        max_session_seconds: 7200,
        websocket_auth: 'token',
        fork: true,
        created_at: testNow,
        updated_at: testNow,
        ...fields,
      });
      const active = (fields?.state ?? 'ready') === 'ready' ? { active_deployment_id: id } : {};
      await db
        .updateTable('agents')
        .set({ desired_deployment_id: id, ...active })
        .where('id', '=', agentId)
        .execute();
      return id;
    },
    deployedAgent: async ({ organizationId, hostId, agent, deployment } = {}) => {
      const organization = organizationId ?? (await rows.organization());
      const agentId = await rows.agent(organization, agent);
      const deploymentId = await rows.deployment(agentId, deployment);
      if (hostId !== undefined) return { organizationId: organization, agentId, deploymentId, hostId };
      ownHost ??= rows.host();
      return { organizationId: organization, agentId, deploymentId, hostId: await ownHost };
    },
    session: ({ organizationId, agentId, deploymentId }, fields) =>
      insert(db, 'sessions', {
        organization_id: organizationId,
        agent_id: agentId,
        deployment_id: deploymentId,
        state: 'starting',
        transport: 'none',
        created_at: testNow,
        updated_at: testNow,
        events: '[]',
        ...fields,
      }),
    instance: ({ agentId, deploymentId, hostId }, fields) =>
      insert(db, 'instances', {
        agent_id: agentId,
        deployment_id: deploymentId,
        host_id: hostId,
        state: 'ready',
        host: '127.0.0.1',
        port: 40_000,
        created_at: testNow,
        ready_at: testNow,
        ...fields,
      }),
    find: async <Name extends keyof Tables>(table: Name, id: string) => {
      const { rows: found } = await sql`select * from ${sql.table(table)} where id = ${id}`.execute(db);
      if (found[0] === undefined) throw new Error(`The table ${table} has no row ${id}.`);
      return found[0] as Selectable<Tables[Name]>;
    },
    update: async (table, id, fields) => {
      await db
        .updateTable(table as 'sessions')
        .set(fields as never)
        .where('id', '=', id)
        .execute();
    },
    close: async () => {
      await db.destroy();
      await database.drop();
    },
  };
  return rows;
}

async function insert<Name extends keyof Tables>(db: Database, table: Name, row: object): Promise<string> {
  const whole = { id: newId(), ...row };
  await db
    .insertInto(table)
    .values(whole as never)
    .execute();
  return whole.id;
}
