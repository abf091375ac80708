import { parsePeriodSeconds } from '@bothost/contract';

/** Options of a field that selects a period ending now. Each option is a pair: its value in the page's URL, and its label. */
export const periodOptions = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

/** Returns the start of a period such as `15m` that ends at `nowMs`, in Unix seconds. Undefined for any other text. */
export function computePeriodStartSeconds(period: string | undefined, nowMs: number): number | undefined {
  const seconds = parsePeriodSeconds(period ?? '');
  return seconds === undefined || seconds > maxPeriodSeconds ? undefined : nowMs / 1_000 - seconds;
}

/** Longer periods would lead to times that the service rejects. */
const maxPeriodSeconds = 9_999 * 86_400;
