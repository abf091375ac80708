import { type StatisticsPeriod, type StatisticsPoint, statisticsPeriods } from '@bothost/contract';

/** The search parameters of a page with statistics. Without `period`, they cover the last hour. */
export type PeriodSearchParameters = { readonly period?: StatisticsPeriod | undefined };

export const defaultPeriod: StatisticsPeriod = 'hour';

export const periodLabels: Readonly<Record<StatisticsPeriod, string>> = {
  hour: 'Last hour',
  day: 'Last day',
  week: 'Last week',
};

/** The names of the same periods in the filters of lists. */
export const listPeriods: Readonly<Record<StatisticsPeriod, string>> = { hour: '1h', day: '24h', week: '7d' };

/** Returns the filter of the sessions that statistics count. They count from the start of an interval, not from one period ago. */
export function filterCountedSessions([first]: readonly Pick<StatisticsPoint, 'at'>[]) {
  return first && { from: Date.parse(first.at) / 1_000 };
}

export function parsePeriodSearchParameters({ period }: Readonly<Record<string, unknown>>): PeriodSearchParameters {
  return { period: listPeriodNames().find((known) => known === period) };
}

export function listPeriodNames(): readonly StatisticsPeriod[] {
  return Object.keys(statisticsPeriods) as StatisticsPeriod[];
}
