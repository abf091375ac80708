import { expect, test } from 'vitest';
import { formatDuration, formatLatency } from './duration.ts';

test('formatDuration formats milliseconds as minutes and seconds', () => {
  expect([-1, 0, 59_999, 65_000, 3_600_000].map(formatDuration)).toEqual(['0:00', '0:00', '0:59', '1:05', '60:00']);
});

test('formatLatency formats times below one second in ms and others in seconds', () => {
  expect([0, 339.6, 999, 1_000, 12_340].map(formatLatency)).toEqual(['0 ms', '340 ms', '999 ms', '1.0 s', '12.3 s']);
});
