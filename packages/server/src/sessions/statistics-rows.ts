import { type DeploymentState, maxSessionStartWaitSeconds, sessionDurationLimitsSeconds } from '@bothost/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import { sessionFailedSql } from './end-state.ts';
import { latencyBinSql } from './latency-bins.ts';

/** The sessions of an organization or, if `agentId` is not null, of one of its agents. */
export type StatisticsScope = { readonly organizationId: string; readonly agentId: string | null };
type Range = { readonly from: Date; readonly to: Date };

/** Length of the intervals of the table `session_statistics` in seconds. */
export const rolledUpSeconds = 1_800;
/** Longer than any session. Rounded up, because a session ends shortly after its limit. */
const sessionHoursAtMost = Math.ceil((sessionDurationLimitsSeconds.maximum + maxSessionStartWaitSeconds) / 3_600);

const key = sql.raw('organization_id, agent_id, deployment_id, from_at');
const columns = sql.raw(`organization_id, agent_id, deployment_id, from_at, sessions, failed, open_at_most,
  start_bins, start_counts, response_bins, response_counts`);
const startBin = sql.raw(latencyBinSql('extract(epoch from bot_started_at - requested_at) * 1000'));
const responseBin = sql.raw(latencyBinSql('response_p50_ms'));
const isFailed = sql.raw(sessionFailedSql);

const intervalOf = (at: RawBuilder<unknown>, seconds: number) =>
  sql`date_bin(make_interval(secs => ${seconds}), ${at}, 'epoch'::timestamptz)`;

/** The rows of `session_statistics` for a range, computed from the sessions that match `scope`. */
function aggregateSessions(scope: RawBuilder<unknown>, { from, to }: Range, seconds: number): RawBuilder<unknown> {
  const histogram = (bin: string) => sql`
    select ${key}, array_agg(bin) as bins, array_agg(count) as counts
    from (select ${key}, ${sql.ref(bin)} as bin, count(*)::int as count from created where ${sql.ref(bin)} is not null
      group by ${key}, bin) binned
    group by ${key}`;
  return sql`(
    with created as (
      select organization_id, agent_id, deployment_id, ${intervalOf(sql`sessions.created_at`, seconds)} as from_at,
        ${isFailed} as failed, ${startBin} as start_bin,
        -- Not a join, for which PostgreSQL would read all conversations.
        (select ${responseBin} from session_conversations where session_id = sessions.id) as response_bin
      from sessions
      where ${scope} and sessions.created_at >= ${from} and sessions.created_at < ${to}
    ), open as (
      select organization_id, agent_id, deployment_id, greatest(requested_at, ${from}) as opened_at, ended_at
      from sessions
      where ${scope} and state = 'ended' and ended_at >= ${from}
        and ended_at < ${to}::timestamptz + make_interval(hours => ${sessionHoursAtMost}) and requested_at < ${to}
      union all
      select organization_id, agent_id, deployment_id, greatest(requested_at, ${from}), null
      from sessions where ${scope} and state <> 'ended' and requested_at < ${to}
    ), changes as (
      select organization_id, agent_id, deployment_id, opened_at as at, 1 as change from open
      union all
      select organization_id, agent_id, deployment_id, ended_at, -1 from open where ended_at < ${to}
      union all
      select organization_id, agent_id, deployment_id, at, 0
      from (select distinct organization_id, agent_id, deployment_id from open) as deployments_with_sessions,
        generate_series(${intervalOf(sql`${from}::timestamptz`, seconds)}, ${to}::timestamptz - interval '1 ms',
          make_interval(secs => ${seconds})) as at
    ), running as (
      select *, ${intervalOf(sql`at`, seconds)} as from_at,
        sum(change) over (partition by agent_id, deployment_id order by at)::int as open_at_most,
        sum(change) over (partition by agent_id order by at) as open_of_agent
      from changes
    ), peaks as (
      -- The sessions of each deployment when its agent had most: the peaks of two deployments can be at different times.
      select distinct on (${key}) ${key}, open_at_most
      from (select *, first_value(at) over (partition by agent_id, from_at order by open_of_agent desc, at) as peak_at
        from running) with_peak
      where at <= peak_at
      order by ${key}, at desc
    ), counts as (
      select ${key}, count(*)::int as sessions, count(*) filter (where failed)::int as failed from created group by ${key}
    ), starts as (${histogram('start_bin')}), responses as (${histogram('response_bin')})
    select ${key}, coalesce(sessions, 0) as sessions, coalesce(failed, 0) as failed,
      coalesce(open_at_most, 0) as open_at_most,
      coalesce(starts.bins, '{}') as start_bins, coalesce(starts.counts, '{}') as start_counts,
      coalesce(responses.bins, '{}') as response_bins, coalesce(responses.counts, '{}') as response_counts
    from counts full join peaks using (${key}) left join starts using (${key}) left join responses using (${key})
    where sessions > 0 or open_at_most > 0
  )`;
}

/**
 * Returns when the oldest session was created that is open or ended after `endedAfter`. Undefined if there is none.
 */
export async function findOldestChangingSession(db: Database, endedAfter: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(created_at) as at from (
      select created_at from sessions where state <> 'ended'
      union all
      select created_at from sessions where state = 'ended' and ended_at >= ${endedAfter}
    ) changing`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** Recomputes a range of `session_statistics`. Returns false, and does nothing, if another server is doing so. */
export function replaceStatistics(db: Database, range: Range): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('session statistics', 0)) as locked`.execute(transaction);
    if (rows[0]?.locked !== true) return false;
    await transaction
      .deleteFrom('session_statistics')
      .where('from_at', '>=', range.from)
      .where('from_at', '<', range.to)
      .execute();
    const everyOrganization = sql`organization_id in (select id from organizations)`;
    await sql`insert into session_statistics (${columns})
      select ${columns} from ${aggregateSessions(everyOrganization, range, rolledUpSeconds)} computed`.execute(
      transaction,
    );
    return true;
  });
}

export async function deleteStatistics(db: Database, before: Date): Promise<void> {
  await db.deleteFrom('session_statistics').where('from_at', '<', before).execute();
}

/** Returns the end of the newest interval in `session_statistics`. Undefined if the table is empty. */
export async function findStatisticsEnd(db: Database, organizationId?: string): Promise<Date | undefined> {
  const newest = db
    .selectFrom('session_statistics')
    .select('from_at')
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .orderBy('from_at', 'desc')
    .limit(1);
  const row = await newest.executeTakeFirst();
  return row && new Date(row.from_at.getTime() + rolledUpSeconds * 1_000);
}

/** Selects rows for a range: those of `session_statistics` before `rolledUpTo`, and newer ones computed in `seconds`-long intervals. */
function selectStatistics(
  { organizationId, agentId }: StatisticsScope,
  { from, to }: Range,
  rolledUpTo: Date,
  seconds: number,
): RawBuilder<unknown> {
  const scope =
    agentId === null
      ? sql`organization_id = ${organizationId}`
      : sql`organization_id = ${organizationId} and agent_id = ${agentId}`;
  return sql`(
    select ${columns} from session_statistics where ${scope} and from_at >= ${from} and from_at < ${rolledUpTo}
    union all
    select ${columns} from ${aggregateSessions(scope, { from: rolledUpTo, to }, seconds)} computed
  )`;
}

export type SessionCounts = { readonly sessions: number; readonly failed: number };

/** The sessions of an interval, and the highest number of sessions at the same time in it. */
export type IntervalCounts = SessionCounts & { readonly at: Date; readonly openAtMost: number };
export type DeploymentCounts = SessionCounts & { readonly deploymentId: string; readonly openAtMost: number };

/**
 * A bin of the histogram of an interval or of a deployment. `at` is null for the histogram of a deployment, `deploymentId` for
 * that of an interval.
 */
export type LatencyCount = {
  readonly kind: 'start' | 'response';
  readonly at: Date | null;
  readonly deploymentId: string | null;
  readonly bin: number;
  readonly count: number;
};

type StatisticsQuery = {
  readonly scope: StatisticsScope;
  readonly range: Range;
  readonly rolledUpTo: Date;
  /** Length of the intervals that are computed from sessions, in seconds. */
  readonly seconds: number;
  /** Length of the intervals of the result, in seconds. */
  readonly stepSeconds: number;
};

type SessionStatistics = {
  readonly intervals: readonly IntervalCounts[];
  readonly deployments: readonly DeploymentCounts[];
  readonly latencies: readonly LatencyCount[];
};

export async function readStatistics(
  db: Database,
  { scope, range, rolledUpTo, seconds, stepSeconds }: StatisticsQuery,
): Promise<SessionStatistics> {
  const { rows } = await sql<SessionStatistics>`
    with statistics as materialized (
      select *, ${intervalOf(sql`from_at`, stepSeconds)} as at
      from ${selectStatistics(scope, range, rolledUpTo, seconds)} selected
    ), counts as (
      select at, sum(sessions)::int as sessions, sum(failed)::int as failed, sum(open_at_most)::int as open
      from statistics group by at, from_at
    ), intervals as (
      select at, sum(sessions)::int as sessions, sum(failed)::int as failed, max(open) as "openAtMost"
      from counts group by at
    ), deployments as (
      select deployment_id as "deploymentId", sum(sessions)::int as sessions, sum(failed)::int as failed,
        max(open_at_most) as "openAtMost"
      from statistics group by deployment_id
    ), binned as (
      select 'start' as kind, at, deployment_id, bin, count
      from statistics, unnest(start_bins, start_counts) as bins (bin, count)
      union all
      select 'response', at, deployment_id, bin, count
      from statistics, unnest(response_bins, response_counts) as bins (bin, count)
    ), latencies as (
      select kind, at, deployment_id, bin, sum(count)::int as count
      from binned group by grouping sets ((kind, at, bin), (kind, deployment_id, bin))
    )
    select
      (select coalesce(jsonb_agg(to_jsonb(intervals)), '[]') from intervals) as intervals,
      (select coalesce(jsonb_agg(to_jsonb(deployments)), '[]') from deployments) as deployments,
      (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'at', at, 'deploymentId', deployment_id, 'bin', bin,
        'count', count)), '[]') from latencies) as latencies`.execute(db);
  const [row] = rows;
  return {
    intervals: (row?.intervals ?? []).map((one) => ({ ...one, at: new Date(one.at) })),
    deployments: row?.deployments ?? [],
    latencies: (row?.latencies ?? []).map((one) => ({ ...one, at: one.at === null ? null : new Date(one.at) })),
  };
}

export type DeploymentTimes = {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly agentDeleted: boolean;
  readonly state: DeploymentState;
  readonly createdAt: Date;
  readonly stateAt: Date;
  readonly activatedAt: Date | null;
  /** When another deployment replaced this one, or its agent was deleted. */
  readonly replacedAt: Date | null;
  readonly maxAgents: number;
};

/** Returns the deployments that served or failed after `from`, oldest first. */
export async function listDeploymentTimes(
  db: Database,
  { organizationId, agentId }: StatisticsScope,
  from: Date,
): Promise<readonly DeploymentTimes[]> {
  return db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .select([
      'deployments.id',
      'agents.id as agentId',
      'agents.name as agentName',
      'deployments.state',
      'deployments.created_at as createdAt',
      'deployments.state_at as stateAt',
      'deployments.activated_at as activatedAt',
      'deployments.max_agents as maxAgents',
    ])
    .select(sql<boolean>`deleted_at is not null`.as('agentDeleted'))
    .select(sql<Date | null>`coalesce(replaced_at, deleted_at)`.as('replacedAt'))
    .where('agents.organization_id', '=', organizationId)
    .$if(agentId !== null, (query) => query.where('agents.id', '=', agentId))
    .where(
      sql<boolean>`case when activated_at is null then deployments.state_at >= ${from}
        else coalesce(replaced_at, deleted_at) is null or coalesce(replaced_at, deleted_at) >= ${from} end`,
    )
    .orderBy('deployments.created_at')
    .orderBy('deployments.id')
    .execute();
}
