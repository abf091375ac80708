import type { ListedConversation, SessionEndState } from '@bothost/contract';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database, Tables } from '../store/tables.ts';
import { sessionEndStateSql, sessionFailedSql } from './end-state.ts';
import { botFailureSql, exceptionTypeSql } from './problem-rows.ts';
import type { SessionRow } from './rows.ts';

export type SessionFilter = {
  readonly of: { readonly agentId: string } | { readonly organizationId: string };
  readonly sessionId?: string | undefined;
  readonly deploymentId?: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly status: 'active' | 'ended' | 'failed' | 'all';
  readonly startType?: 'cold' | 'warm' | 'all';
  readonly startSeconds?: { readonly least: number; readonly greatest: number | null };
  /** Bounds of the session's duration. A session that has not ended lasts until `now`. */
  readonly durationSeconds?: { readonly least: number | undefined; readonly greatest: number | undefined };
  readonly now?: Date;
  readonly endStates: readonly string[] | undefined;
  readonly completionStatus?: string | undefined;
  /** The type of the last exception of the bot. Empty: the bot reported none. */
  readonly exceptionType?: string | undefined;
  /** How the bot failed without an exception. Empty: this is not known. */
  readonly failure?: string | undefined;
  /** Minimum numbers of the conversation. */
  readonly conversation?: {
    readonly responseP95Ms: number | undefined;
    readonly interruptions: number | undefined;
    readonly errors: number | undefined;
  };
};

const endState = sql.raw<SessionEndState>(sessionEndStateSql);
/** The start duration, rounded as in `SessionSummary.botStartSeconds`. */
const botStartSecondsSql = sql<number>`round(extract(epoch from bot_started_at - requested_at))`;

function selectMatching(db: Database, filter: SessionFilter) {
  const { of, sessionId, deploymentId, from, to, status, startType = 'all', startSeconds, endStates } = filter;
  let query = db.selectFrom('sessions');
  if ('agentId' in of) query = query.where('agent_id', '=', of.agentId);
  else query = query.where('organization_id', '=', of.organizationId);
  if (sessionId !== undefined) query = query.where('id', '=', sessionId);
  if (deploymentId !== undefined) query = query.where('deployment_id', '=', deploymentId);
  if (from !== undefined) query = query.where('created_at', '>=', from);
  if (to !== undefined) query = query.where('created_at', '<=', to);
  if (status === 'failed') query = query.where(sql.raw<boolean>(sessionFailedSql));
  else if (status !== 'all') query = query.where('state', status === 'ended' ? '=' : '<>', 'ended');
  if (startType !== 'all') query = query.where('cold_start', '=', startType === 'cold');
  const { least: startLeast = 0, greatest: startGreatest = null } = startSeconds ?? {};
  if (startLeast > 0) query = query.where(botStartSecondsSql, '>=', startLeast);
  if (startGreatest !== null) query = query.where(botStartSecondsSql, '<=', startGreatest);
  const duration = sql<number>`extract(epoch from coalesce(ended_at, ${filter.now ?? null}::timestamptz) - created_at)`;
  const { least, greatest } = filter.durationSeconds ?? {};
  if (least !== undefined) query = query.where(duration, '>=', least);
  if (greatest !== undefined) query = query.where(duration, '<=', greatest);
  const { completionStatus, exceptionType, failure } = filter;
  if (completionStatus !== undefined) query = query.where(sql<string>`completion_status`, '=', completionStatus);
  if (exceptionType !== undefined)
    query = query.where(sql<string>`coalesce(${exceptionTypeSql}, '')`, '=', exceptionType);
  if (failure !== undefined) query = query.where(sql<string>`coalesce(${botFailureSql}, '')`, '=', failure);
  if (endStates !== undefined) query = query.where(endState.$castTo<string>(), 'in', endStates);
  return whereConversation(query, filter.conversation);
}

function whereConversation<Query extends SelectQueryBuilder<Tables, 'sessions', object>>(
  query: Query,
  least: SessionFilter['conversation'],
) {
  const columns = [
    ['response_p95_ms', least?.responseP95Ms],
    ['interruptions', least?.interruptions],
    ['errors', least?.errors],
  ] as const;
  return columns.reduce(
    (narrowed, [column, minimum]) =>
      minimum === undefined
        ? narrowed
        : narrowed.where(
            sql<boolean>`exists (select from session_conversations
              where session_id = sessions.id and ${sql.ref(column)} >= ${minimum})`,
          ),
    query as SelectQueryBuilder<Tables, 'sessions', object>,
  );
}

export async function countSessions(db: Database, filter: SessionFilter, limit?: number): Promise<number> {
  const matching = selectMatching(db, filter).select('id');
  const row = await db
    .selectFrom((limit === undefined ? matching : matching.limit(limit)).as('matching'))
    .select((column) => column.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Returns a page of sessions, newest first. Sorts by id within the same creation time, so that the order is total. */
export function listSessionPage(
  db: Database,
  filter: SessionFilter,
  page: { limit: number; offset: number; after: { createdAt: Date; id: string } | null },
): Promise<
  (SessionRow & {
    readonly end_state: SessionEndState;
    readonly agent_name: string;
    readonly agent_deleted: boolean;
    readonly conversation: ListedConversation | null;
  })[]
> {
  let query = selectMatching(db, filter)
    .selectAll()
    .select(endState.as('end_state'))
    .select(sql<string>`(select name from agents where agents.id = agent_id)`.as('agent_name'))
    .select(sql<boolean>`(select deleted_at is not null from agents where agents.id = agent_id)`.as('agent_deleted'))
    .select(
      sql<ListedConversation | null>`(select jsonb_build_object('responseP50Ms', response_p50_ms,
          'responseP95Ms', response_p95_ms, 'interruptions', interruptions, 'errors', errors)
        from session_conversations where session_id = sessions.id and numbers is not null)`.as('conversation'),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.after === null) query = query.offset(page.offset);
  else
    query = query.where(
      sql<boolean>`(created_at, id) < (${page.after.createdAt}::timestamptz, ${page.after.id}::uuid)`,
    );
  return query.execute();
}
