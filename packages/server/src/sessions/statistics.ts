import {
  type DeploymentStatistics,
  type SessionFigures,
  type Statistics,
  type StatisticsPeriod,
  statisticsPeriods,
} from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { groupBy } from './group-by.ts';
import { computePercentileMs } from './latency-bins.ts';
import {
  type DeploymentCounts,
  type DeploymentTimes,
  findStatisticsEnd,
  type LatencyCount,
  listDeploymentTimes,
  readStatistics,
  rolledUpSeconds,
  type SessionCounts,
} from './statistics-rows.ts';

/**
 * Returns figures of an organization, or of one of its agents, over a period that ends now.
 *
 * @throws failure `not-found`
 */
export async function getStatistics(
  context: { db: Database; now: () => Date },
  { organizationId }: { organizationId: string },
  query: { readonly period: StatisticsPeriod; readonly agent?: string | undefined },
): Promise<Statistics> {
  const { db } = context;
  const agentId = query.agent === undefined ? null : await requireAgentId(db, organizationId, query.agent);
  const scope = { organizationId, agentId };
  const to = context.now();
  const { seconds, stepSeconds } = statisticsPeriods[query.period];
  const times = listIntervals(to, seconds, stepSeconds);
  const from = times[0] ?? to;
  const isRolledUp = stepSeconds % rolledUpSeconds === 0;
  const end = isRolledUp ? await findStatisticsEnd(db, organizationId) : undefined;
  const rolledUpTo = end === undefined || end < from ? from : end;
  const [statistics, deployments] = await Promise.all([
    readStatistics(db, {
      scope,
      range: { from, to },
      rolledUpTo,
      seconds: isRolledUp ? rolledUpSeconds : stepSeconds,
      stepSeconds,
    }),
    listDeploymentTimes(db, scope, from),
  ]);
  const { intervals, latencies } = statistics;
  const countsByInterval = new Map(intervals.map((counts) => [counts.at.getTime(), counts]));
  const latenciesByInterval = groupBy(latencies, ({ at }) => at?.getTime());
  return {
    stepSeconds,
    points: times.map((at) => {
      const counts = countsByInterval.get(at.getTime());
      return {
        at: at.toISOString(),
        ...summarize(counts, latenciesByInterval.get(at.getTime()) ?? []),
        openAtMost: counts?.openAtMost ?? 0,
        limit: computeLimit(deployments, Math.min(at.getTime() + stepSeconds * 1_000, to.getTime())),
      };
    }),
    total: summarize(
      {
        sessions: intervals.reduce((total, { sessions }) => total + sessions, 0),
        failed: intervals.reduce((total, { failed }) => total + failed, 0),
      },
      latencies.filter(({ at }) => at === null),
    ),
    deployments: summarizeDeployments(deployments, statistics.deployments, latencies, from),
  };
}

/** Returns the starts of the intervals that cover the period before `to`. Intervals start at multiples of their length. */
function listIntervals(to: Date, seconds: number, stepSeconds: number): readonly Date[] {
  const last = roundDown(to.getTime(), stepSeconds);
  const count = seconds / stepSeconds;
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * stepSeconds * 1_000));
}

function roundDown(milliseconds: number, seconds: number): number {
  return milliseconds - (milliseconds % (seconds * 1_000));
}

function summarize(
  { sessions, failed }: SessionCounts = { sessions: 0, failed: 0 },
  latencies: readonly LatencyCount[],
): SessionFigures {
  const starts = createHistogram(latencies, 'start');
  const responses = createHistogram(latencies, 'response');
  return {
    sessions,
    failed,
    startP50Ms: computePercentileMs(starts, 0.5),
    startP95Ms: computePercentileMs(starts, 0.95),
    responseP50Ms: computePercentileMs(responses, 0.5),
    responseP95Ms: computePercentileMs(responses, 0.95),
  };
}

function createHistogram(latencies: readonly LatencyCount[], kind: LatencyCount['kind']): ReadonlyMap<number, number> {
  const histogram = new Map<number, number>();
  for (const latency of latencies)
    if (latency.kind === kind) histogram.set(latency.bin, (histogram.get(latency.bin) ?? 0) + latency.count);
  return histogram;
}

function computeLimit(deployments: readonly DeploymentTimes[], atMs: number): number {
  const serving = deployments.filter(
    ({ activatedAt, replacedAt }) =>
      activatedAt !== null && activatedAt.getTime() <= atMs && (replacedAt === null || replacedAt.getTime() > atMs),
  );
  return serving.reduce((total, { maxAgents }) => total + maxAgents, 0);
}

function summarizeDeployments(
  deployments: readonly DeploymentTimes[],
  counts: readonly DeploymentCounts[],
  latencies: readonly LatencyCount[],
  from: Date,
): DeploymentStatistics[] {
  const countsOf = new Map(counts.map((one) => [one.deploymentId, one]));
  const latenciesOf = groupBy(latencies, ({ deploymentId }) => deploymentId);
  return deployments.flatMap((deployment) => {
    const { id, agentId, agentName, agentDeleted, state, activatedAt, stateAt, createdAt, maxAgents } = deployment;
    const at = activatedAt ?? (state === 'failed' ? stateAt : createdAt);
    const ownCounts = countsOf.get(id);
    if (at < from && ownCounts === undefined) return [];
    return {
      deploymentId: id,
      agentId,
      agentName,
      agentDeleted,
      state,
      at: at.toISOString(),
      ...summarize(ownCounts, latenciesOf.get(id) ?? []),
      openAtMost: ownCounts?.openAtMost ?? 0,
      limit: maxAgents,
    };
  });
}
