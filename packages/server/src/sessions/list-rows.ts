import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import type { SessionRow } from './rows.ts';

export type SessionFilter = {
  readonly agentId: string;
  readonly deploymentId: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly status: 'active' | 'ended' | 'all';
  readonly startType: 'cold' | 'warm' | 'all';
  readonly startSeconds: { readonly least: number; readonly greatest: number | null };
  readonly endState: string | undefined;
};

/**
 * The value of `end_state` in SQL, for filters. `endStateOf` in `present.ts` computes the same value from a row; a test
 * compares both.
 */
export const endStateSql = sql<string>`case
  when state <> 'ended' then 'active'
  when completion_status in ('SESSION_STOPPED', 'SESSION_TIME_LIMIT') then 'terminated'
  when completion_status in ('BOT_START_TIMEOUT', 'BOT_CONNECTION_TIMEOUT') then 'agent_start_timeout'
  when completion_status = 'HTTP_ERROR' and bot_started_at is null then 'ended_before_agent_start'
  when completion_status = 'HTTP_ERROR' or completion_status ~ '^[0-9]{3}$' then 'agent_error'
  when bot_started_at is null then 'ended_before_agent_start'
  else 'completed' end`;

const botStartSecondsSql = sql<number>`round(extract(epoch from bot_started_at - requested_at))`;

function filtered(db: Database, filter: SessionFilter) {
  const { deploymentId, from, to, status, startType, startSeconds, endState } = filter;
  let query = db.selectFrom('sessions').where('agent_id', '=', filter.agentId);
  if (deploymentId !== undefined) query = query.where('deployment_id', '=', deploymentId);
  if (from !== undefined) query = query.where('created_at', '>=', from);
  if (to !== undefined) query = query.where('created_at', '<=', to);
  if (status !== 'all') query = query.where('state', status === 'ended' ? '=' : '<>', 'ended');
  if (startType !== 'all') query = query.where('cold_start', '=', startType === 'cold');
  if (startSeconds.least > 0) query = query.where(botStartSecondsSql, '>=', startSeconds.least);
  if (startSeconds.greatest !== null) query = query.where(botStartSecondsSql, '<=', startSeconds.greatest);
  if (endState !== undefined) query = query.where(endStateSql, '=', endState);
  return query;
}

export async function countSessions(db: Database, filter: SessionFilter): Promise<number> {
  const row = await filtered(db, filter)
    .select((column) => column.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Returns a page of sessions, newest first. Sorts by id within the same creation time, so that the order is total. */
export function pageOfSessions(
  db: Database,
  filter: SessionFilter,
  page: { limit: number; offset: number; after: { createdAt: Date; id: string } | null },
): Promise<SessionRow[]> {
  let query = filtered(db, filter).selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit);
  if (page.after === null) query = query.offset(page.offset);
  else
    query = query.where(
      sql<boolean>`(created_at, id) < (${page.after.createdAt}::timestamptz, ${page.after.id}::uuid)`,
    );
  return query.execute();
}
