import { type RawBuilder, sql } from 'kysely';
import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { sessionFailedSql } from './end-state.ts';
import type { StatisticsScope } from './statistics-rows.ts';

export const exceptionTypeSql = sql<string | null>`jsonb_path_query_array(sessions.events,
  '$[*] ? (@.code == "BOT_FAILED").detail.exceptionType') ->> -1`;

/** SQL expression: what `findBotFailure` of the contract returns for a session with the status `HTTP_ERROR`, else null. */
export const botFailureSql = sql<string | null>`case completion_status when 'HTTP_ERROR' then (
  select case
    when event ->> 'code' = 'INSTANCE_START_FAILED' then 'START_FAILED'
    when event -> 'detail' ? 'diskLimit' then 'DISK_LIMIT'
    when event -> 'detail' ->> 'outOfMemory' = 'true' then 'OUT_OF_MEMORY'
    when event -> 'detail' ? 'platformCause' then 'PLATFORM'
    else coalesce(event -> 'detail' ->> 'signal', 'STATUS_' || (event -> 'detail' ->> 'code')) end
  from (select jsonb_path_query_array(sessions.events,
    '$[*] ? (@.code == "INSTANCE_EXITED" || @.code == "INSTANCE_START_FAILED")') -> -1 as event) latest
) end`;

export type ProblemRow = {
  readonly agentId: string;
  readonly agentName: string;
  readonly agentDeleted: boolean;
  readonly completionStatus: string;
  readonly exceptionType: string | null;
  readonly failure: string | null;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly sessionId: string;
  /** The events of the latest session. */
  readonly events: readonly StoredSessionEvent[];
  /** Whether the bot of the latest session had started. */
  readonly botStarted: boolean;
};

/** Groups the newest `limit` failed sessions that were created since `since`, the most frequent cause first. */
export async function groupFailedSessions(
  db: Database,
  { organizationId, agentId }: StatisticsScope,
  since: Date,
  limit: number,
): Promise<readonly ProblemRow[]> {
  const ofAgent: RawBuilder<unknown> = agentId === null ? sql`true` : sql`agent_id = ${agentId}`;
  const { rows } = await sql<ProblemRow>`
    with failed as (
      select id, agent_id, completion_status, created_at, ${exceptionTypeSql} as exception_type,
        ${botFailureSql} as failure
      from sessions
      where organization_id = ${organizationId} and ${ofAgent} and created_at >= ${since} and ${sql.raw(sessionFailedSql)}
      order by created_at desc, id desc limit ${limit}
    ), grouped as (
      select agent_id, completion_status, exception_type, failure, count(*)::int as count, min(created_at) as first_at,
        max(created_at) as last_at, (array_agg(id order by created_at desc, id desc))[1] as session_id
      from failed group by agent_id, completion_status, exception_type, failure
    )
    select grouped.agent_id as "agentId", agents.name as "agentName", agents.deleted_at is not null as "agentDeleted",
      grouped.completion_status as "completionStatus", exception_type as "exceptionType", failure, count,
      first_at as "firstAt", last_at as "lastAt", session_id as "sessionId", events, bot_started_at is not null as "botStarted"
    from grouped join sessions on sessions.id = session_id join agents on agents.id = grouped.agent_id
    order by count desc, last_at desc, session_id`.execute(db);
  return rows;
}
