import { type AttentionItem, getAgentStatus, type Overview } from '@bothost/contract';
import { getReconciledDeploymentId } from '../agents/rollout.ts';
import type { Database } from '../store/tables.ts';
import {
  type AgentStatistics,
  readAgentStatistics,
  readSessionEndStatistics,
  readSessionStartStatistics,
  type SessionEndStatistics,
} from './overview-rows.ts';

const hourMs = 3_600_000;

/** Returns statistics and problems of all agents of an organization, except deleted agents. */
export async function getOverview(
  context: { db: Database; now: () => Date },
  { organizationId }: { organizationId: string },
): Promise<Overview> {
  const since = new Date(context.now().getTime() - hourMs);
  const [agents, starts, ends] = await Promise.all([
    readAgentStatistics(context.db, organizationId),
    readSessionStartStatistics(context.db, organizationId, since),
    readSessionEndStatistics(context.db, organizationId, since),
  ]);
  const endsOf = new Map(ends.map((row) => [row.agentName, row]));
  return {
    agentCount: agents.length,
    sessions: {
      live: sum(agents, ({ occupied }) => occupied),
      capacity: sum(agents, ({ maxAgents }) => maxAgents ?? 0),
    },
    warmPool: {
      ready: sum(agents, ({ idle }) => idle),
      starting: sum(agents, ({ starting }) => starting),
      minimum: sum(agents, ({ minAgents }) => minAgents ?? 0),
    },
    starts,
    ends: { count: sum(ends, ({ count }) => count), failed: sum(ends, ({ failed }) => failed) },
    attention: agents.flatMap((agent) => findAttention(agent, endsOf.get(agent.name))),
  };
}

/** Lists the problems of an agent, the most severe first. */
function findAttention(agent: AgentStatistics, ends: SessionEndStatistics | undefined): readonly AttentionItem[] {
  const { activeId, desiredId, desiredState } = agent;
  if (desiredId === null || desiredState === null) return [];
  const status = getAgentStatus({
    activeDeploymentId: activeId,
    desiredDeploymentId: desiredId,
    reconciledDeploymentId: getReconciledDeploymentId({ id: desiredId, state: desiredState }, activeId),
  });
  const found: AttentionItem[] = [];
  const add = (kind: AttentionItem['kind'], cause: string, since: Date | null, sessionId: string | null = null) =>
    found.push({ kind, agentName: agent.name, ...status, cause, since: since?.toISOString() ?? null, sessionId });
  if (agent.activeError !== null) add('starts-failing', agent.activeError, agent.activeErrorAt);
  if (status.lastDeploy === 'failed') {
    const serving = status.serving === 'serving' ? 'The previous deployment still serves.' : 'No deployment serves.';
    add('deployment-failed', `${agent.desiredError ?? 'The deployment failed.'} ${serving}`, agent.desiredStateAt);
  }
  if (agent.maxAgents !== null && agent.occupied >= agent.maxAgents) {
    add('at-capacity', `All ${agent.maxAgents} instances have a session, so further starts are refused.`, null);
  }
  if (ends !== undefined && ends.failed > 0) {
    const cause = `${ends.failed} of the ${ends.count} sessions that ended in the last hour failed.`;
    add('sessions-failed', cause, ends.failedAt, ends.sessionId);
  }
  return found;
}

function sum<Row>(rows: readonly Row[], value: (row: Row) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}
