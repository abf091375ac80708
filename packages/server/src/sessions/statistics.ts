import {
  type DeploymentStatistics,
  type SessionFigures,
  type Statistics,
  type StatisticsPeriod,
  type StatisticsPoint,
  statisticsPeriods,
} from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { groupBy } from './group-by.ts';
import { computePercentileMs } from './latency-bins.ts';
import {
  type DeploymentTimes,
  findStatisticsEnd,
  type IntervalCounts,
  type LatencyCount,
  listDeploymentTimes,
  readStatistics,
  rolledUpSeconds,
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
  const [{ counts, latencies }, deployments] = await Promise.all([
    readStatistics(db, {
      scope,
      range: { from, to },
      rolledUpTo,
      seconds: isRolledUp ? rolledUpSeconds : stepSeconds,
      stepSeconds,
    }),
    listDeploymentTimes(db, scope, from),
  ]);
  const countsByInterval = groupBy(counts, ({ at }) => roundDown(at.getTime(), stepSeconds));
  const latenciesByInterval = groupBy(latencies, ({ at }) => at?.getTime());
  return {
    stepSeconds,
    points: times.map((at) => {
      const inInterval = countsByInterval.get(at.getTime()) ?? [];
      return {
        at: at.toISOString(),
        ...summarize(inInterval, latenciesByInterval.get(at.getTime()) ?? []),
        ...computeCapacity(inInterval, deployments, Math.min(at.getTime() + stepSeconds * 1_000, to.getTime())),
      };
    }),
    total: summarize(
      counts,
      latencies.filter(({ at }) => at === null),
    ),
    deployments: summarizeDeployments(deployments, counts, latencies, from),
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

function summarize(counts: readonly IntervalCounts[], latencies: readonly LatencyCount[]): SessionFigures {
  const starts = createHistogram(latencies, 'start');
  const responses = createHistogram(latencies, 'response');
  return {
    sessions: counts.reduce((total, { sessions }) => total + sessions, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
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

function computeCapacity(
  counts: readonly IntervalCounts[],
  deployments: readonly DeploymentTimes[],
  endMs: number,
): Pick<StatisticsPoint, 'openAtMost' | 'limit'> {
  const open = new Map<number, number>();
  for (const { at, openAtMost } of counts) open.set(at.getTime(), (open.get(at.getTime()) ?? 0) + openAtMost);
  const serving = deployments.filter(
    ({ activatedAt, replacedAt }) =>
      activatedAt !== null && activatedAt.getTime() <= endMs && (replacedAt === null || replacedAt.getTime() > endMs),
  );
  return {
    openAtMost: Math.max(0, ...open.values()),
    limit: serving.reduce((total, { maxAgents }) => total + maxAgents, 0),
  };
}

function summarizeDeployments(
  deployments: readonly DeploymentTimes[],
  counts: readonly IntervalCounts[],
  latencies: readonly LatencyCount[],
  from: Date,
): DeploymentStatistics[] {
  const countsOf = groupBy(counts, ({ deploymentId }) => deploymentId);
  const latenciesOf = groupBy(latencies, ({ deploymentId }) => deploymentId);
  return deployments.flatMap(({ id, agentName, state, activatedAt, stateAt, createdAt }) => {
    const at = activatedAt ?? (state === 'failed' ? stateAt : createdAt);
    const ownCounts = countsOf.get(id) ?? [];
    if (at < from && ownCounts.length === 0) return [];
    return {
      deploymentId: id,
      agentName,
      state,
      at: at.toISOString(),
      ...summarize(ownCounts, latenciesOf.get(id) ?? []),
    };
  });
}
