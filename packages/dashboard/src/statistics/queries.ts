import type { StatisticsPeriod } from '@bothost/contract';
import { queryOptions } from '@tanstack/react-query';
import { organizationQuery } from '../organization/queries.ts';

const refreshMs: Readonly<Record<StatisticsPeriod, number>> = { hour: 15_000, day: 60_000, week: 60_000 };

/** Reads figures of an agent or, without `agent`, of the organization, over a period that ends now. */
export function statisticsQuery(organization: string, period: StatisticsPeriod, agent?: string) {
  return queryOptions({
    ...organizationQuery(organization, ['statistics', period, agent], (api, signal) =>
      api.getStatistics({ query: { period, agent } }, signal),
    ),
    refetchInterval: refreshMs[period],
  });
}

/** Reads the failed sessions of a period, grouped by agent and cause. */
export function problemsQuery(organization: string, period: StatisticsPeriod, agent?: string) {
  return queryOptions({
    ...organizationQuery(organization, ['problems', period, agent], (api, signal) =>
      api.listSessionProblems({ query: { period, agent } }, signal),
    ),
    refetchInterval: refreshMs[period],
  });
}
