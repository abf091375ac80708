import { expect, test } from 'vitest';
import { formatRelativeTime } from './relative-time.ts';

const now = new Date('2026-11-23T12:00:00Z');

test.each([
  ['2026-11-23T11:59:30Z', 'just now'],
  ['2026-11-23T12:00:30Z', 'in less than a minute'],
  ['2026-11-23T11:58:59Z', '1 minute ago'],
  ['2026-11-23T09:00:00Z', '3 hours ago'],
  ['2026-11-22T12:00:00Z', 'yesterday'],
  ['2026-12-22T12:00:00Z', 'in 29 days'],
  ['2027-02-21T12:00:00Z', 'in 3 months'],
  ['2024-01-01T00:00:00Z', '2 years ago'],
])('formatRelativeTime describes the time %s as "%s"', (at, expected) => {
  expect(formatRelativeTime(new Date(at), now)).toBe(expected);
});
