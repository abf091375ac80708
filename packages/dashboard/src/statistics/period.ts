import { type StatisticsPeriod, statisticsPeriods } from '@bothost/contract';

/** The search parameters of a page with statistics. Without `period`, they cover the last hour. */
export type PeriodSearchParameters = { readonly period?: StatisticsPeriod | undefined };

export const defaultPeriod: StatisticsPeriod = 'hour';

export const periodLabels: Readonly<Record<StatisticsPeriod, string>> = {
  hour: 'Last hour',
  day: 'Last day',
  week: 'Last week',
};

/** The same periods as in the filters of lists. */
export const listPeriods: Readonly<Record<StatisticsPeriod, string>> = { hour: '1h', day: '24h', week: '7d' };

export function parsePeriodSearchParameters({ period }: Readonly<Record<string, unknown>>): PeriodSearchParameters {
  return { period: listPeriodNames().find((known) => known === period) };
}

export function listPeriodNames(): readonly StatisticsPeriod[] {
  return Object.keys(statisticsPeriods) as StatisticsPeriod[];
}
