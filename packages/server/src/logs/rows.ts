import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, InstanceLogsTable, RefusedCallsTable } from '../store/tables.ts';
import type { SortOrder } from './position.ts';

export type StoredLog = Selectable<InstanceLogsTable>;

/** The agents, and optionally the deployment or session, whose logs are requested. */
export type LogScope = {
  readonly agentIds: readonly string[];
  readonly hostId: string;
  readonly deploymentId: string | undefined;
  readonly sessionId: string | undefined;
  /** Omits logs that may contain the conversation: of the levels `transcript` and `recording`, and of earlier versions. */
  readonly withoutText: boolean;
};

/** The instance that wrote an output. `requested_at` is null if the instance had no session or the session was removed. */
export type InstanceWithLogs = {
  readonly instance_id: string;
  readonly agent_id: string;
  readonly deployment_id: string;
  readonly session_id: string | null;
  readonly requested_at: Date | null;
};

function isOfAgent(column: string, { agentIds }: Pick<LogScope, 'agentIds'>) {
  return sql<boolean>`${sql.ref(column)} = any(${agentIds}::uuid[])`;
}

export function listLiveInstancesForLogs(db: Database, scope: LogScope): Promise<InstanceWithLogs[]> {
  return db
    .selectFrom('instances')
    .leftJoin('sessions', 'sessions.id', 'instances.session_id')
    .select([
      'instances.id as instance_id',
      'instances.agent_id',
      'instances.deployment_id',
      'instances.session_id',
      'sessions.requested_at',
    ])
    .where(isOfAgent('instances.agent_id', scope))
    .where('instances.host_id', '=', scope.hostId)
    .where('instances.state', '<>', 'ended')
    .$if(scope.deploymentId !== undefined, (query) =>
      query.where('instances.deployment_id', '=', scope.deploymentId ?? ''),
    )
    .$if(scope.sessionId !== undefined, (query) => query.where('instances.session_id', '=', scope.sessionId ?? ''))
    .$if(scope.withoutText, (query) =>
      query.where(sql<boolean>`(instances.session_id is null or sessions.conversation_level in ('off', 'timings'))`),
    )
    .execute();
}

export type InstanceLogRow = InstanceWithLogs & Pick<StoredLog, 'begins_at' | 'ends_at'>;

/**
 * Lists logs with lines between two times. Ascending order is by the time of a log's first line, descending order by its end.
 */
export function listInstanceLogRows(
  db: Database,
  scope: LogScope,
  page: {
    readonly order: SortOrder;
    readonly from: Date;
    readonly to: Date;
    readonly after: InstanceLogRow | null;
    readonly limit: number;
  },
): Promise<InstanceLogRow[]> {
  const { order, after } = page;
  const column = order === 'asc' ? 'begins_at' : 'ends_at';
  const last = order === 'asc' ? after?.begins_at : after?.ends_at;
  return db
    .selectFrom('instance_logs')
    .leftJoin('sessions', 'sessions.id', 'instance_logs.session_id')
    .select([
      'instance_logs.instance_id',
      'instance_logs.agent_id',
      'instance_logs.deployment_id',
      'instance_logs.session_id',
      'instance_logs.begins_at',
      'instance_logs.ends_at',
      'sessions.requested_at',
    ])
    .where(isOfAgent('instance_logs.agent_id', scope))
    .where('instance_logs.host_id', '=', scope.hostId)
    .where('instance_logs.ends_at', '>=', page.from)
    .where('instance_logs.begins_at', '<=', page.to)
    .$if(scope.deploymentId !== undefined, (query) =>
      query.where('instance_logs.deployment_id', '=', scope.deploymentId ?? ''),
    )
    .$if(scope.sessionId !== undefined, (query) => query.where('instance_logs.session_id', '=', scope.sessionId ?? ''))
    .$if(scope.withoutText, (query) =>
      query.where(
        sql<boolean>`(instance_logs.session_id is null or sessions.conversation_level in ('off', 'timings'))`,
      ),
    )
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(${sql.ref(`instance_logs.${column}`)}, instance_logs.instance_id)
          ${sql.raw(order === 'asc' ? '>' : '<')} (${last ?? null}::timestamptz, ${after?.instance_id ?? null}::uuid)`,
      ),
    )
    .orderBy(`instance_logs.${column}`, order)
    .orderBy('instance_logs.instance_id', order)
    .limit(page.limit)
    .execute();
}

/** A phone call of the agent that was refused, and the deployment that served the agent then. */
export type RefusedCallForLog = Pick<InstanceWithLogs, 'agent_id' | 'deployment_id'> &
  Pick<Selectable<RefusedCallsTable>, 'id' | 'carrier' | 'message' | 'at'>;

/** Lists refused phone calls, at most `limit`, without those from before the agent's first deployment. */
export async function listRefusedCallsForLog(
  db: Database,
  scope: LogScope,
  page: { readonly order: SortOrder; readonly from: Date; readonly to: Date; readonly limit: number },
): Promise<RefusedCallForLog[]> {
  // No refused call has a session.
  if (scope.sessionId !== undefined) return [];
  const { rows } = await sql<RefusedCallForLog>`
    select id, agent_id, deployment_id, carrier, message, at from refused_calls
    where ${isOfAgent('agent_id', scope)} and deployment_id is not null and at >= ${page.from} and at <= ${page.to}
      and (${scope.deploymentId ?? null}::uuid is null or deployment_id = ${scope.deploymentId ?? null}::uuid)
    order by at ${sql.raw(page.order)} limit ${page.limit}`.execute(db);
  return rows;
}

/** Returns whether there are logs that a caller who may not read what was said does not see. */
export async function hasLogsWithText(db: Database, scope: LogScope): Promise<boolean> {
  const { rows } = await sql`
    with logs as (
      select session_id, deployment_id from instance_logs where ${isOfAgent('agent_id', scope)} and host_id = ${scope.hostId}
      union all select session_id, deployment_id from instances
        where ${isOfAgent('agent_id', scope)} and host_id = ${scope.hostId} and state <> 'ended')
    select from logs join sessions on sessions.id = logs.session_id
    where coalesce(conversation_level, 'transcript') not in ('off', 'timings')
      and (${scope.sessionId ?? null}::uuid is null or logs.session_id = ${scope.sessionId ?? null}::uuid)
      and (${scope.deploymentId ?? null}::uuid is null or logs.deployment_id = ${scope.deploymentId ?? null}::uuid)
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns whether the log of a session may still grow, because the session or its instance has not ended. */
export async function canSessionLogGrow(db: Database, scope: LogScope & { sessionId: string }): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select exists (select from sessions where id = ${scope.sessionId} and ${isOfAgent('agent_id', scope)} and state <> 'ended')
      or exists (select from instances where session_id = ${scope.sessionId} and ${isOfAgent('agent_id', scope)}
        and state <> 'ended') as may`.execute(db);
  return rows[0]?.may ?? false;
}

export function findLoggedInstance(
  db: Database,
  instanceId: string,
): Promise<Omit<InstanceWithLogs, 'requested_at'> | undefined> {
  return db
    .selectFrom('instances')
    .select(['id as instance_id', 'agent_id', 'deployment_id', 'session_id'])
    .where('id', '=', instanceId)
    .executeTakeFirst();
}

/** Inserts the row of a log. Does nothing if the row already exists. */
export async function insertLog(db: Database, row: Insertable<InstanceLogsTable>): Promise<void> {
  await db
    .insertInto('instance_logs')
    .values(row)
    .onConflict((conflict) => conflict.column('instance_id').doNothing())
    .execute();
}

export function listLogsOfHost(db: Database, hostId: string): Promise<LogKey[]> {
  return db.selectFrom('instance_logs').select(['instance_id', 'agent_id']).where('host_id', '=', hostId).execute();
}

export function listLogsOfSession(db: Database, hostId: string, sessionId: string): Promise<LogKey[]> {
  return db
    .selectFrom('instance_logs')
    .select(['instance_id', 'agent_id'])
    .where('host_id', '=', hostId)
    .where('session_id', '=', sessionId)
    .execute();
}

type LogKey = Pick<StoredLog, 'instance_id' | 'agent_id'>;

export function listLogsEndedBefore(db: Database, hostId: string, before: Date, limit: number): Promise<LogKey[]> {
  return db
    .selectFrom('instance_logs')
    .select(['instance_id', 'agent_id'])
    .where('host_id', '=', hostId)
    .where('ends_at', '<', before)
    .orderBy('ends_at')
    .limit(limit)
    .execute();
}

/** Lists logs of instances that never had a session, except the newest `keep` logs of each deployment. */
export async function listSurplusLogsWithoutSession(
  db: Database,
  hostId: string,
  keep: number,
  limit: number,
): Promise<LogKey[]> {
  const { rows } = await sql<LogKey>`
    select instance_id, agent_id from (
      select instance_id, agent_id, row_number() over (partition by deployment_id order by ends_at desc) as position
      from instance_logs where host_id = ${hostId} and session_id is null
    ) as ranked where position > ${keep} limit ${limit}`.execute(db);
  return rows;
}

/**
 * Lists logs of a host that must be removed to keep the total size within `bytes`: the oldest of the organizations with the most
 * output, so that an organization loses no logs because another one prints a lot.
 */
export async function listLogsBeyondTotalSize(
  db: Database,
  hostId: string,
  bytes: number,
  limit: number,
): Promise<LogKey[]> {
  // `depth` is the size of a log and all newer logs of its organization.
  const { rows } = await sql<LogKey>`
    select instance_id, agent_id from (
      select instance_id, agent_id, depth, sum(bytes) over (order by depth, instance_id) as total from (
        select instance_id, agent_id, bytes,
          sum(bytes) over (partition by organization_id order by ends_at desc, instance_id desc) as depth
        from instance_logs join agents on agents.id = agent_id where host_id = ${hostId}
      ) as measured
    ) as summed where total > ${bytes} order by depth desc limit ${limit}`.execute(db);
  return rows;
}

export async function deleteLog(db: Database, instanceId: string): Promise<void> {
  await db.deleteFrom('instance_logs').where('instance_id', '=', instanceId).execute();
}

export async function findInstancesWithStoredLog(
  db: Database,
  instanceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (instanceIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('instance_logs')
    .select('instance_id')
    .where('instance_id', 'in', [...instanceIds])
    .execute();
  return new Set(rows.map((row) => row.instance_id));
}
