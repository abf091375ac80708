import { expect, test } from 'vitest';
import { toUnixSeconds } from './log-time.ts';

test.each([
  ['2026-11-23T12:00:00.123456789Z', 0.123456],
  ['2026-11-23T12:00:00.5Z', 0.5],
  ['2026-11-23T12:00:00Z', 0],
])('toUnixSeconds keeps the microseconds of %s', (timestamp, fraction) => {
  expect(toUnixSeconds(timestamp)).toBeCloseTo(Date.parse('2026-11-23T12:00:00Z') / 1000 + fraction, 6);
});
