import { expect, it } from 'vitest';
import { parsePeriodSeconds } from './period.ts';

it.each([
  ['15m', 900],
  ['60s', 60],
  ['24h', 86_400],
  ['7d', 604_800],
  ['2w', 1_209_600],
  ['0d', 0],
])('parsePeriodSeconds returns the seconds of the period %s', (period, seconds) => {
  expect(parsePeriodSeconds(period)).toBe(seconds);
});

it.each(['', '7', 'd', '-1d', '1y', '1.5h', `${'9'.repeat(16)}d`])(
  'parsePeriodSeconds returns undefined for %j',
  (text) => {
    expect(parsePeriodSeconds(text)).toBeUndefined();
  },
);
