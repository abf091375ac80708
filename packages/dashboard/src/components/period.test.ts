import { expect, test } from 'vitest';
import { computePeriodStartSeconds } from './period.ts';

test('computePeriodStartSeconds returns the time seven days ago for "7d", and undefined for an invalid period', () => {
  const nowMs = Date.parse('2026-11-23T12:00:00Z');
  expect(computePeriodStartSeconds('7d', nowMs)).toBe(Date.parse('2026-11-16T12:00:00Z') / 1_000);
  for (const text of [undefined, '', '7', '99999d']) expect(computePeriodStartSeconds(text, nowMs)).toBeUndefined();
});
