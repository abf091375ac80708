import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, InstanceLogsTable } from '../store/tables.ts';
import type { Order } from './position.ts';

export type StoredLog = Selectable<InstanceLogsTable>;

/** Restricts a request for logs. */
export type LogScope = {
  readonly agentId: string;
  readonly hostId: string;
  readonly deploymentId: string | undefined;
  readonly sessionId: string | undefined;
};

/** The instance that wrote an output. `requested_at` null: without a session, or its record was removed. */
export type LogOwner = {
  readonly instance_id: string;
  readonly agent_id: string;
  readonly deployment_id: string;
  readonly session_id: string | null;
  readonly requested_at: Date | null;
};

export function openOwners(db: Database, scope: LogScope): Promise<LogOwner[]> {
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
    .where('instances.agent_id', '=', scope.agentId)
    .where('instances.host_id', '=', scope.hostId)
    .where('instances.state', '<>', 'ended')
    .$if(scope.deploymentId !== undefined, (query) =>
      query.where('instances.deployment_id', '=', scope.deploymentId ?? ''),
    )
    .$if(scope.sessionId !== undefined, (query) => query.where('instances.session_id', '=', scope.sessionId ?? ''))
    .execute();
}

export type StoredOwner = LogOwner & Pick<StoredLog, 'begins_at' | 'ends_at'>;

/** Logs with lines between two moments: by their first line in ascending order, by their last in descending order. */
export function storedOwners(
  db: Database,
  scope: LogScope,
  page: {
    readonly order: Order;
    readonly from: Date;
    readonly to: Date;
    readonly after: StoredOwner | null;
    readonly limit: number;
  },
): Promise<StoredOwner[]> {
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
    .where('instance_logs.agent_id', '=', scope.agentId)
    .where('instance_logs.host_id', '=', scope.hostId)
    .where('instance_logs.ends_at', '>=', page.from)
    .where('instance_logs.begins_at', '<=', page.to)
    .$if(scope.deploymentId !== undefined, (query) =>
      query.where('instance_logs.deployment_id', '=', scope.deploymentId ?? ''),
    )
    .$if(scope.sessionId !== undefined, (query) => query.where('instance_logs.session_id', '=', scope.sessionId ?? ''))
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

/** Whether a session may still write: it or its instance has not ended. */
export async function maySessionWrite(db: Database, scope: LogScope & { sessionId: string }): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select exists (select from sessions where id = ${scope.sessionId} and agent_id = ${scope.agentId} and state <> 'ended')
      or exists (select from instances where session_id = ${scope.sessionId} and agent_id = ${scope.agentId}
        and state <> 'ended') as may`.execute(db);
  return rows[0]?.may ?? false;
}

export function ownerOf(db: Database, instanceId: string): Promise<Omit<LogOwner, 'requested_at'> | undefined> {
  return db
    .selectFrom('instances')
    .select(['id as instance_id', 'agent_id', 'deployment_id', 'session_id'])
    .where('id', '=', instanceId)
    .executeTakeFirst();
}

/** Idempotent. */
export async function insertLog(db: Database, row: Insertable<InstanceLogsTable>): Promise<void> {
  await db
    .insertInto('instance_logs')
    .values(row)
    .onConflict((conflict) => conflict.column('instance_id').doNothing())
    .execute();
}

export function logsOfHost(db: Database, hostId: string): Promise<Removable[]> {
  return db.selectFrom('instance_logs').select(['instance_id', 'agent_id']).where('host_id', '=', hostId).execute();
}

type Removable = Pick<StoredLog, 'instance_id' | 'agent_id'>;

export function logsEndedBefore(db: Database, hostId: string, before: Date, limit: number): Promise<Removable[]> {
  return db
    .selectFrom('instance_logs')
    .select(['instance_id', 'agent_id'])
    .where('host_id', '=', hostId)
    .where('ends_at', '<', before)
    .orderBy('ends_at')
    .limit(limit)
    .execute();
}

/** Logs of instances that never had a session, except the newest `keep` of each deployment. */
export async function surplusWithoutSession(
  db: Database,
  hostId: string,
  keep: number,
  limit: number,
): Promise<Removable[]> {
  const { rows } = await sql<Removable>`
    select instance_id, agent_id from (
      select instance_id, agent_id, row_number() over (partition by deployment_id order by ends_at desc) as position
      from instance_logs where host_id = ${hostId} and session_id is null
    ) as ranked where position > ${keep} limit ${limit}`.execute(db);
  return rows;
}

/** The oldest logs of a host, which exceed a total of `bytes`. */
export async function logsBeyond(db: Database, hostId: string, bytes: number, limit: number): Promise<Removable[]> {
  const { rows } = await sql<Removable>`
    select instance_id, agent_id from (
      select instance_id, agent_id, ends_at, sum(bytes) over (order by ends_at desc, instance_id desc) as total
      from instance_logs where host_id = ${hostId}
    ) as summed where total > ${bytes} order by ends_at limit ${limit}`.execute(db);
  return rows;
}

export async function deleteLog(db: Database, instanceId: string): Promise<void> {
  await db.deleteFrom('instance_logs').where('instance_id', '=', instanceId).execute();
}

/** Those of these instances that have a row. */
export async function knownLogs(db: Database, instanceIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (instanceIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('instance_logs')
    .select('instance_id')
    .where('instance_id', 'in', [...instanceIds])
    .execute();
  return new Set(rows.map((row) => row.instance_id));
}
