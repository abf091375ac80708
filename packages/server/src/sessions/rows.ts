import type { PhoneCarrier, SessionCompletionStatus, SessionEndState, SessionResponse } from '@bothost/contract';
import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { createPreparedQuery } from '../store/prepared-query.ts';
import type { Database, SessionState, SessionsTable, StoredSessionEvent } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { sessionEndStateSql, sessionFailedSql } from './end-state.ts';

export type SessionRow = Selectable<SessionsTable>;
export type EndedSessionRow = SessionRow & {
  readonly end_state: SessionEndState;
  readonly failed: boolean;
  readonly agent_name: string;
  readonly organization_name: string;
};

/** The columns that a new session needs. Other columns are set later. */
export type NewSession = Pick<
  SessionRow,
  'id' | 'organization_id' | 'agent_id' | 'deployment_id' | 'state' | 'transport' | 'created_at' | 'updated_at'
> &
  Partial<
    Pick<
      SessionRow,
      'body' | 'conversation_level' | 'relay_id' | 'requested_at' | 'claimed_at' | 'phone_carrier' | 'phone_call'
    >
  > & {
    readonly conversation_redact?: readonly string[];
  };

/**
 * Returns the statement that inserts a session. With `dispatchedAt`, the statement must be part of the claim of an instance. It
 * stores `ifReady` as the time of the dispatch if the claimed instance is ready and reports its session.
 */
export function insertSession(row: NewSession, dispatchedAt?: { readonly ifReady: Date | null }): RawBuilder<unknown> {
  const dispatchTime =
    dispatchedAt === undefined
      ? sql`null`
      : sql`(select ${dispatchedAt.ifReady}::timestamptz from claimed where ready_at is not null and reports_session)`;
  return sql`insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, body,
      conversation_level, conversation_redact, relay_id, phone_carrier, phone_call, created_at, updated_at, requested_at,
      claimed_at, dispatched_at)
    values (${row.id}, ${row.organization_id}, ${row.agent_id}, ${row.deployment_id}, ${row.state}, ${row.transport},
      ${row.body ?? null}, ${row.conversation_level ?? null}, ${JSON.stringify(row.conversation_redact ?? [])}::jsonb,
      ${row.relay_id ?? null}, ${row.phone_carrier ?? null}, ${row.phone_call ?? null}, ${row.created_at}::timestamptz, ${row.updated_at}::timestamptz,
      ${row.requested_at ?? null}::timestamptz, ${row.claimed_at ?? null}::timestamptz, ${dispatchTime})`;
}

/** Whether a session was created for a phone call of an agent, even if retention has deleted it. */
export async function hasSessionOfPhoneCall(
  db: Database,
  agentId: string,
  call: { readonly carrier: PhoneCarrier; readonly callId: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from sessions where agent_id = ${agentId} and phone_carrier = ${call.carrier} and phone_call = ${call.callId}
    union all
    select 1 from past_calls where agent_id = ${agentId} and carrier = ${call.carrier} and call = ${call.callId}`.execute(
    db,
  );
  return rows.length > 0;
}

/** Finds a session and its metrics by the agent's name or id. Prepared, because this is the most frequent query. */
export async function findSessionWithMetrics<Metrics>(
  db: Database,
  organizationId: string,
  agent: string,
  sessionId: string,
): Promise<SessionWithMetrics<Metrics> | undefined> {
  const parameters = [sessionId, organizationId, agent, isUuid(agent) ? agent : null];
  type Found = { readonly session: Record<string, unknown>; readonly metrics: Metrics | null };
  const [found] = (await db.executeQuery(createPreparedQuery<Found>('session-look-up', lookUp, parameters))).rows;
  if (found === undefined) return undefined;
  const { session, metrics } = found;
  for (const column of timeColumns) if (session[column] !== null) session[column] = new Date(String(session[column]));
  return { ...(session as Omit<SessionWithMetrics<Metrics>, 'metrics'>), metrics };
}

/** `metrics` is null if the session has none, or is open. */
export type SessionWithMetrics<Metrics> = SessionResponseRow & {
  readonly transport: string;
  readonly metrics: Metrics | null;
};

const responseColumns = [
  'id',
  'organization_id',
  'agent_id',
  'deployment_id',
  'state',
  'created_at',
  'updated_at',
  'requested_at',
  'claimed_at',
  'ready_at',
  'bot_started_at',
  'bot_called_at',
  'transport_connected_at',
  'first_frame_at',
  'cold_start',
  'completion_status',
  'ended_at',
  'events',
] as const;
export type SessionResponseRow = Pick<SessionRow, (typeof responseColumns)[number]> & {
  readonly end_state: SessionEndState;
};

const timeColumns = responseColumns.filter((column) => column.endsWith('_at'));

/** Returns a session and its metrics as JSON, because the driver of the database takes longer to parse many columns. */
const lookUp = `select to_json(found) as session, to_json(session_metrics) as metrics
  from (
    select ${responseColumns.map((column) => `sessions.${column}`).join(', ')}, sessions.transport, ${sessionEndStateSql} as end_state
    from sessions join agents on agents.id = agent_id
    where sessions.id = $1 and agents.organization_id = $2
      and (agents.name = $3 and agents.deleted_at is null or agents.id = $4::uuid)
  ) as found left join session_metrics on session_metrics.session_id = found.id`;

/** Returns the meetings that the bot of a session joined in its room. */
export async function findMeetings(db: Database, sessionId: string): Promise<SessionResponse['meetingIds']> {
  const room = await db
    .selectFrom('session_rooms')
    .select('meetings')
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return [...(room?.meetings ?? [])];
}

/** Whether the region of an agent measures sessions. True if no server has run the region yet. */
export async function readsUsage(db: Database, agentId: string): Promise<boolean> {
  const host = await db
    .selectFrom('hosts')
    .innerJoin('agents', 'agents.region', 'hosts.region')
    .select('hosts.reads_usage')
    .where('agents.id', '=', agentId)
    .executeTakeFirst();
  return host?.reads_usage ?? true;
}

/** Updates a session if its state is one of `states`. Otherwise, returns undefined. */
export function updateSessionRow(
  db: Database,
  id: string,
  states: readonly SessionState[],
  change: Updateable<SessionsTable>,
): Promise<SessionRow | undefined> {
  return db
    .updateTable('sessions')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', states)
    .returningAll()
    .executeTakeFirst();
}

/** Sets the time of the dispatch if the session is starting. */
export async function setDispatchTime(db: Database, id: string, at: Date | null): Promise<void> {
  await sql`/* prepared: set-dispatch-time */
    update sessions set dispatched_at = ${at}::timestamptz where id = ${id} and state = 'starting'`.execute(db);
}

/** Returns a session that is starting, with what is needed to claim an instance for it. */
export function findStartingSession(db: Database, id: string) {
  return db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .innerJoin('deployments', 'deployments.id', 'sessions.deployment_id')
    .select([
      'sessions.organization_id',
      'sessions.agent_id',
      'sessions.deployment_id',
      'sessions.created_at',
      'sessions.requested_at',
      'sessions.events',
      'agents.name as agent_name',
      'deployments.max_agents',
    ])
    .where('sessions.id', '=', id)
    .where('sessions.state', '=', 'starting')
    .executeTakeFirst();
}

/** Ends a session once, with a recorded `ending_status` if there is one. Undefined if it has already ended. */
export function endSessionRow(
  db: Database,
  id: string,
  status: SessionCompletionStatus,
  endedAt: Date,
  only: SessionState | undefined,
): Promise<EndedSessionRow | undefined> {
  // Keep the times of a session in order: `endedAt` may be the last heartbeat, which can be older than the last event. `greatest`
  // ignores nulls.
  const latest = sql<Date>`greatest(${endedAt}::timestamptz, created_at, requested_at, bot_started_at)`;
  return db
    .updateTable('sessions')
    .set((column) => ({
      state: 'ended',
      completion_status: column.fn.coalesce('ending_status', column.val(status)),
      ended_at: latest,
      updated_at: latest,
      body: null,
    }))
    .where('id', '=', id)
    .where('state', '<>', 'ended')
    .$if(only !== undefined, (query) => query.where('state', '=', only ?? 'ended'))
    .returningAll()
    .returning([
      sql.raw<SessionEndState>(sessionEndStateSql).as('end_state'),
      sql.raw<boolean>(sessionFailedSql).as('failed'),
      sql<string>`(select name from agents where id = agent_id)`.as('agent_name'),
      sql<string>`(select name from organizations where id = organization_id)`.as('organization_name'),
    ])
    .executeTakeFirst();
}

/** Maximum number of events per session. Without a limit, a bot could grow its session's row indefinitely. */
const eventsAtMost = 100;

/**
 * Appends events that the session does not have yet: a server process that was killed may already have stored the same events.
 */
export async function appendEvents(db: Database, id: string, events: readonly StoredSessionEvent[]): Promise<void> {
  const added = JSON.stringify(events);
  // Encrypted texts differ each time.
  const known = JSON.stringify(events.map(({ text: _, ...event }) => event));
  await sql`update sessions set events = events || ${added}::jsonb
    where id = ${id} and not events @> ${known}::jsonb and jsonb_array_length(events) < ${eventsAtMost}`.execute(db);
}

export type StartMoments = {
  readonly botCalledAt?: Date;
  readonly transportConnectedAt?: Date;
  readonly firstFrameAt?: Date;
};

export async function setStartMoments(db: Database, id: string, moments: StartMoments): Promise<void> {
  const { botCalledAt = null, transportConnectedAt = null, firstFrameAt = null } = moments;
  await sql`update sessions set
      bot_called_at = coalesce(bot_called_at, ${botCalledAt}::timestamptz),
      transport_connected_at = coalesce(transport_connected_at, ${transportConnectedAt}::timestamptz),
      first_frame_at = coalesce(first_frame_at, ${firstFrameAt}::timestamptz)
    where id = ${id}`.execute(db);
}

export function findAgentLimit(db: Database, organizationId: string, agentName: string) {
  return db
    .selectFrom('agents')
    .innerJoin('deployments', 'deployments.id', 'agents.active_deployment_id')
    .select(['agents.id', 'deployments.max_agents'])
    .where('agents.organization_id', '=', organizationId)
    .where('agents.name', '=', agentName)
    .where('agents.deleted_at', 'is', null)
    .executeTakeFirst();
}

export function findOpenSessionOfInstance(db: Database, instanceId: string) {
  return db
    .selectFrom('instances')
    .innerJoin('sessions', 'sessions.id', 'instances.session_id')
    .innerJoin('deployments', 'deployments.id', 'sessions.deployment_id')
    .select(['sessions.id', 'sessions.bot_started_at as startedAt', 'deployments.max_session_seconds as maxSeconds'])
    .where('instances.id', '=', instanceId)
    .where('instances.state', '=', 'ready')
    .where('sessions.state', 'in', ['starting', 'live'])
    .executeTakeFirst();
}

export function findOpenSession(db: Database, agentId: string, sessionId: string) {
  return db
    .selectFrom('sessions')
    .innerJoin('deployments', 'deployments.id', 'sessions.deployment_id')
    .select([
      'sessions.id',
      'sessions.transport',
      'sessions.created_at as createdAt',
      'deployments.max_session_seconds as maxSeconds',
    ])
    .where('sessions.agent_id', '=', agentId)
    .where('sessions.id', '=', sessionId)
    .where('sessions.state', 'in', ['waiting', 'starting', 'live'])
    .executeTakeFirst();
}

/** Returns the sessions of a region that have not ended, with their instances. */
export function listOpenSessionRows(db: Database, region: string) {
  return db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .innerJoin('deployments', 'deployments.id', 'sessions.deployment_id')
    .leftJoin('instances', 'instances.session_id', 'sessions.id')
    .select([
      'sessions.id',
      'sessions.organization_id',
      'sessions.agent_id',
      'sessions.deployment_id',
      'sessions.state',
      'sessions.transport',
      'sessions.conversation_level',
      'sessions.conversation_redact',
      'sessions.relay_id',
      'sessions.created_at',
      'sessions.requested_at',
      'sessions.claimed_at',
      'sessions.dispatched_at',
      'sessions.bot_started_at',
      'sessions.ending_status',
      'agents.name as agent_name',
      'deployments.max_session_seconds',
      'instances.id as instance_id',
      'instances.state as instance_state',
      'instances.socket',
      'instances.host',
      'instances.port',
      'instances.reports_session',
    ])
    .where('agents.region', '=', region)
    .where('sessions.state', '<>', 'ended')
    .execute();
}

export function findSessionRegionAndHost(
  db: Database,
  session: { readonly sessionId: string; readonly organizationId: string; readonly agentName: string },
) {
  return db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .leftJoin('instances', 'instances.session_id', 'sessions.id')
    .select(['agents.region', 'instances.id as instance_id', 'instances.host_id'])
    .where('sessions.id', '=', session.sessionId)
    .where('sessions.organization_id', '=', session.organizationId)
    .where('agents.name', '=', session.agentName)
    .where('sessions.state', 'in', ['waiting', 'starting', 'live'])
    .executeTakeFirst();
}

export function findSessionRequestBody(db: Database, sessionId: string) {
  return db.selectFrom('sessions').select(['body', 'transport']).where('id', '=', sessionId).executeTakeFirst();
}

/** Deletes sessions that ended before a time, oldest first, at most `limit`. Keeps the ids of their phone calls. */
export async function deleteEndedSessions(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with deleted as (
      delete from sessions where id in (
        select id from sessions where state = 'ended' and ended_at < ${before} order by ended_at limit ${limit})
      returning agent_id, phone_carrier, phone_call
    ), kept as (
      insert into past_calls (agent_id, carrier, call)
      select agent_id, phone_carrier, phone_call from deleted where phone_call is not null
      on conflict do nothing
    )
    select count(*)::int as deleted from deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}

export async function readSessionState(
  db: Database,
  agentId: string,
  sessionId: string,
): Promise<SessionState | undefined> {
  const query = db.selectFrom('sessions').select('state').where('id', '=', sessionId).where('agent_id', '=', agentId);
  return (await query.executeTakeFirst())?.state;
}
