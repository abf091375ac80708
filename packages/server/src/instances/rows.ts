import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { DeploymentInstanceCounts } from '../agents/deployment-response.ts';
import type { Database, InstancesTable, StoredSessionEvent } from '../store/tables.ts';

export type InstanceRow = Selectable<InstancesTable>;
type ClaimedRow = Pick<
  InstanceRow,
  'id' | 'state' | 'socket' | 'host' | 'port' | 'ready_at' | 'reports_session' | 'notices'
>;

/**
 * Claims an instance for a session in one statement. Takes the oldest ready idle instance, or else the oldest idle instance
 * that is starting, or else inserts a new instance. Returns no row if `maxAgents` instances of the agent have a session. This
 * count is exact because the caller holds the agent's lock. `insertion` is SQL that inserts the session's row. It is part of the
 * same statement, because each database round trip delays a warm start, and may read the claimed row as `claimed`.
 */
export async function claimInstanceRow(
  db: Database,
  claim: {
    readonly sessionId: string;
    readonly agentId: string;
    readonly deploymentId: string;
    readonly hostId: string;
    readonly newInstanceId: string;
    readonly maxAgents: number;
    readonly now: Date;
  },
  insertion?: RawBuilder<unknown>,
): Promise<ClaimedRow | undefined> {
  const name = sql.raw(insertion === undefined ? 'claim-instance' : 'insert-and-claim');
  const inserted = insertion === undefined ? sql`` : sql`, inserted as (${insertion})`;
  const { rows } = await sql<ClaimedRow>`/* prepared: ${name} */
    with occupied as (
      select count(*) as number from instances
      where agent_id = ${claim.agentId} and state <> 'ended' and session_id is not null
    ), idle as (
      select id from instances, occupied
      where deployment_id = ${claim.deploymentId} and session_id is null and state in ('ready', 'starting')
        and number < ${claim.maxAgents}
      order by state = 'ready' desc, created_at limit 1
      for update of instances skip locked
    ), claimed as (
      update instances set session_id = ${claim.sessionId} from idle
      where instances.id = idle.id and session_id is null and state in ('ready', 'starting')
      returning instances.id, state, socket, host, port, ready_at, reports_session, notices
    ), added as (
      insert into instances (id, deployment_id, agent_id, host_id, session_id, state, created_at)
      select ${claim.newInstanceId}, ${claim.deploymentId}, ${claim.agentId}, ${claim.hostId}, ${claim.sessionId},
        'starting', ${claim.now}::timestamptz
      from occupied where number < ${claim.maxAgents} and not exists (select from idle)
      returning id, state, socket, host, port, ready_at, reports_session, notices
    )${inserted}
    select * from claimed union all select * from added`.execute(db);
  return rows[0];
}

export async function insertInstances(db: Database, rows: readonly Insertable<InstancesTable>[]): Promise<void> {
  if (rows.length > 0)
    await db
      .insertInto('instances')
      .values([...rows])
      .execute();
}

/** Counts the active instances of a deployment, and the idle ones among them. */
export async function countInstancesOfDeployment(
  db: Database,
  deploymentId: string,
): Promise<{ all: number; idle: number }> {
  const { rows } = await sql<{ all: number; idle: number }>`
    select count(*)::int as all, count(*) filter (where session_id is null)::int as idle
    from instances where deployment_id = ${deploymentId} and state in ('starting', 'ready')`.execute(db);
  return rows[0] ?? { all: 0, idle: 0 };
}

export async function countInstancesByDeployment(db: Database, agentId: string): Promise<DeploymentInstanceCounts[]> {
  const { rows } = await sql<DeploymentInstanceCounts>`
    select deployment_id as "deploymentId", count(*) filter (where session_id is not null)::int as "activeSessions",
      count(*) filter (where state = 'ready')::int as ready,
      count(*) filter (where session_id is null and state = 'ready')::int as idle,
      count(*) filter (where state = 'starting')::int as starting,
      (array_agg(jsonb_build_object('at', notices -> -1 -> 'at', 'detail', notices -> -1 #> '{detail,detail}') order by id)
        filter (
          where state = 'starting' and notices -> -1 ->> 'code' in ('INSTANCE_WAITING', 'INSTANCE_PULLING')
        ))[1] as waits
    from instances where agent_id = ${agentId} and state <> 'ended' group by deployment_id`.execute(db);
  return rows;
}

export function listOpenInstanceRows(db: Database, hostId: string): Promise<InstanceRow[]> {
  return db.selectFrom('instances').selectAll().where('host_id', '=', hostId).where('state', '<>', 'ended').execute();
}

export function updateInstanceIfInState(
  db: Database,
  id: string,
  states: readonly InstancesTable['state'][],
  change: Updateable<InstancesTable>,
): Promise<InstanceRow | undefined> {
  return db
    .updateTable('instances')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', states)
    .returningAll()
    .executeTakeFirst();
}

/** Maximum number of stored events per instance. */
const noticesAtMost = 20;

/**
 * Appends an event to an instance, and returns the id of the instance's session, if any. If a session claims the instance at
 * the same time, the row lock ensures that either the claim reads the event, or this statement returns the session's id.
 */
export async function appendInstanceEvent(
  db: Database,
  id: string,
  notice: StoredSessionEvent,
): Promise<string | null> {
  const { rows } = await sql<{ session_id: string | null }>`
    update instances set notices = notices || ${JSON.stringify([notice])}::jsonb
    where id = ${id} and jsonb_array_length(notices) < ${noticesAtMost} returning session_id`.execute(db);
  return rows[0]?.session_id ?? null;
}

/** Marks an idle instance as stopping. Returns undefined if a session claimed the instance first. */
export function retireInstanceRow(db: Database, id: string): Promise<InstanceRow | undefined> {
  return db
    .updateTable('instances')
    .set({ state: 'stopping' })
    .where('id', '=', id)
    .where('session_id', 'is', null)
    .where('state', 'in', ['starting', 'ready'])
    .returningAll()
    .executeTakeFirst();
}

/**
 * Marks the instance of a session as stopping, unless it has ended, and takes the session from it. Returns undefined if it is not
 * its instance.
 */
export function releaseInstanceRow(db: Database, id: string, sessionId: string): Promise<InstanceRow | undefined> {
  return db
    .updateTable('instances')
    .set({ session_id: null, state: sql`case state when 'ended' then state else 'stopping' end` })
    .where('id', '=', id)
    .where('session_id', '=', sessionId)
    .returningAll()
    .executeTakeFirst();
}

export function findInstanceById(db: Database, id: string): Promise<InstanceRow | undefined> {
  return db.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Deletes at most `limit` rows of ended instances. Their history is stored with their sessions. */
export async function deleteEndedInstances(db: Database, before: Date, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('instances')
    .where('id', 'in', (query) =>
      query
        .selectFrom('instances')
        .select('id')
        .where('state', '=', 'ended')
        .where('ended_at', '<', before)
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

export async function endInstancesOfRegion(db: Database, region: string, at: Date): Promise<void> {
  await sql`update instances set state = 'ended', ended_at = greatest(${at}::timestamptz, instances.created_at) from hosts
    where hosts.id = host_id and hosts.region = ${region} and state <> 'ended'`.execute(db);
}
