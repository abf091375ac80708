import { expect, test } from 'vitest';
import { describeRange, toUnixSeconds } from './log-time.ts';

test.each([
  ['2026-11-23T12:00:00.123456789Z', 0.123456],
  ['2026-11-23T12:00:00.5Z', 0.5],
  ['2026-11-23T12:00:00Z', 0],
])('toUnixSeconds keeps the microseconds of %s', (timestamp, fraction) => {
  expect(toUnixSeconds(timestamp)).toBeCloseTo(Date.parse('2026-11-23T12:00:00Z') / 1000 + fraction, 6);
});

test.each([
  ['2026-11-23T12:00:00', '2026-11-23T12:30:00', 'Nov 23 12:00:00 – 12:30:00'],
  ['2026-11-23T23:30:00', '2026-11-24T00:30:00', 'Nov 23 23:30:00 – Nov 24 00:30:00'],
  ['2026-11-23T12:00:00', undefined, 'Nov 23 12:00:00 –'],
  [undefined, '2026-11-23T12:30:00', '– Nov 23 12:30:00'],
  [undefined, undefined, null],
])('describeRange names the days of a range from %s to %s', (from, to, text) => {
  const [start, end] = [from, to].map((at) => (at === undefined ? undefined : Date.parse(at) / 1_000));
  expect(describeRange(start, end)).toBe(text);
});
