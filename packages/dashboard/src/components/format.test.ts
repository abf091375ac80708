import { expect, test } from 'vitest';
import { formatDuration, formatElapsedTime, formatLatency, formatRelativeTime, formatTimeRange } from './format.ts';

// Local times, because dates are shown in the time zone of the browser.
const now = new Date('2026-11-23T12:00:00');

test.each([
  ['2026-11-23T11:59:30', 'just now'],
  ['2026-11-23T12:00:30', 'in less than a minute'],
  ['2026-11-23T11:58:59', '1 minute ago'],
  ['2026-11-23T09:00:00', '3 hours ago'],
  ['2026-11-22T12:00:01', '23 hours ago'],
  ['2026-11-22T12:00:00', 'Nov 22, 12:00'],
  ['2026-02-01T07:05:00', 'Feb 1, 07:05'],
  ['2026-12-22T12:00:00', 'in 29 days'],
  ['2027-02-21T12:00:00', 'in 3 months'],
  ['2025-11-23T12:00:00', 'Nov 23, 2025'],
])('formatRelativeTime describes the time %s as "%s"', (at, expected) => {
  expect(formatRelativeTime(new Date(at), now)).toBe(expected);
});

test.each([
  [formatLatency, 339.6, '340 ms'],
  [formatLatency, 1_000, '1.0 s'],
  [formatLatency, 9_940, '9.9 s'],
  [formatDuration, 0, '0 ms'],
  [formatDuration, 999.4, '999 ms'],
  [formatDuration, 59_999, '59 s'],
  [formatDuration, 60_000, '1 min 0 s'],
  [formatDuration, 3_599_000, '59 min 59 s'],
  [formatDuration, 7_800_000, '2 h 10 min'],
  [formatElapsedTime, -1, '0:00'],
  [formatElapsedTime, 65_000, '1:05'],
  [formatElapsedTime, 3_600_000, '60:00'],
])('%o formats %d ms as %s', (format, durationMs, text) => {
  expect(format(durationMs)).toBe(text);
});

test.each([
  ['2026-11-23T09:12:10', '2026-11-23T09:51:50', '09:12 to 09:51'],
  ['2026-11-23T09:12:10', '2026-11-23T09:12:50', '09:12'],
  ['2026-11-22T09:12:10', '2026-11-22T09:51:50', 'Nov 22, 09:12 to 09:51'],
  ['2026-11-22T23:59:00', '2026-11-23T00:10:00', 'Nov 22, 23:59 to Nov 23, 00:10'],
])('formatTimeRange describes the time from %s to %s as "%s"', (from, to, expected) => {
  expect(formatTimeRange(new Date(from), new Date(to), now)).toBe(expected);
});
