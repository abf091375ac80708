/** Options of a field that selects a period ending now. Each option is a pair: its value in the page's URL, and its label. */
export const periodOptions = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

const secondsOf = { m: 60, h: 3_600, d: 86_400 } as const;

/** Returns the length in seconds of a period such as `15m`, `24h` or `7d`, or undefined for any other text. */
export function parsePeriodSeconds(period: string | undefined): number | undefined {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(period ?? '') ?? [];
  return count === undefined ? undefined : Number(count) * secondsOf[unit as keyof typeof secondsOf];
}
