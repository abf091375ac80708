// This file does not import zod, so that `botcli --help` starts quickly.

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Returns the length in seconds of a period such as `15m`, `24h` or `2w`, or undefined for any other text. */
export function parsePeriodSeconds(period: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,15})([smhdw])$/.exec(period) ?? [];
  const seconds = unitSeconds[unit];
  return seconds === undefined ? undefined : Number(count) * seconds;
}
