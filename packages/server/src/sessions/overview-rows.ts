import type { DeploymentState } from '@bothost/contract';
import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import { sessionFailedSql } from './end-state.ts';

/** An agent with its serving (`active`) and latest (`desired`) deployment, whose fields are null if it has none. */
export type AgentStatistics = {
  readonly name: string;
  readonly activeId: string | null;
  readonly minAgents: number | null;
  readonly maxAgents: number | null;
  readonly activeError: string | null;
  readonly activeErrorAt: Date | null;
  readonly desiredId: string | null;
  readonly desiredState: DeploymentState | null;
  readonly desiredStateAt: Date | null;
  readonly desiredError: string | null;
  readonly occupied: number;
  readonly idle: number;
  readonly starting: number;
};

export async function readAgentStatistics(db: Database, organizationId: string): Promise<readonly AgentStatistics[]> {
  const { rows } = await sql<AgentStatistics>`
    select agents.name, active.id as "activeId", active.min_agents as "minAgents", active.max_agents as "maxAgents",
      active.error as "activeError", active.error_at as "activeErrorAt", desired.id as "desiredId",
      desired.state as "desiredState", desired.state_at as "desiredStateAt", desired.error as "desiredError", occupied, idle, starting
    from agents
      left join deployments active on active.id = agents.active_deployment_id
      left join deployments desired on desired.id = agents.desired_deployment_id
      cross join lateral (
        select count(*) filter (where session_id is not null)::int as occupied,
          count(*) filter (where session_id is null and state = 'ready')::int as idle,
          count(*) filter (where state = 'starting')::int as starting
        from instances where agent_id = agents.id and state <> 'ended'
      ) usage
    where agents.organization_id = ${organizationId} and agents.deleted_at is null
    order by agents.name`.execute(db);
  return rows;
}

export type SessionStartStatistics = {
  readonly count: number;
  readonly cold: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
};

/** Counts the sessions that were created since `since` and that a bot accepted, and measures how long their starts took. */
export async function readSessionStartStatistics(
  db: Database,
  organizationId: string,
  since: Date,
): Promise<SessionStartStatistics> {
  const { rows } = await sql<SessionStartStatistics>`
    select count(*)::int as count, count(*) filter (where cold_start)::int as cold,
      percentile_disc(0.5) within group (order by ms) as "p50Ms",
      percentile_disc(0.99) within group (order by ms) as "p99Ms"
    from agents join sessions on agent_id = agents.id
      cross join lateral (select round(extract(epoch from bot_started_at - requested_at) * 1000)::int as ms) latency
    where agents.organization_id = ${organizationId} and sessions.created_at >= ${since} and ms is not null`.execute(
    db,
  );
  return rows[0] ?? { count: 0, cold: 0, p50Ms: null, p99Ms: null };
}

export type SessionEndStatistics = {
  readonly agentName: string;
  readonly count: number;
  readonly failed: number;
  /** Id of the latest failed session of the agent, or null if none failed. */
  readonly sessionId: string | null;
  readonly failedAt: Date | null;
};

/** Counts the sessions that ended since `since`, by agent. */
export async function readSessionEndStatistics(
  db: Database,
  organizationId: string,
  since: Date,
): Promise<readonly SessionEndStatistics[]> {
  const isFailed = sql.raw(sessionFailedSql);
  const { rows } = await sql<SessionEndStatistics>`
    select agents.name as "agentName", count(*)::int as count, count(*) filter (where ${isFailed})::int as failed,
      (array_agg(sessions.id order by ended_at desc) filter (where ${isFailed}))[1] as "sessionId",
      max(ended_at) filter (where ${isFailed}) as "failedAt"
    from sessions join agents on agents.id = agent_id
    where sessions.organization_id = ${organizationId} and state = 'ended' and ended_at >= ${since}
      and agents.deleted_at is null
    group by agents.name`.execute(db);
  return rows;
}
