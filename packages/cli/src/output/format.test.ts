import { expect, test } from 'vitest';
import { formatDuration, formatMebibytes, formatTime } from './format.ts';

test.each([
  [0, '00:00:00'],
  [59.9, '00:00:59'],
  [3_661, '01:01:01'],
  [360_000, '100:00:00'],
  [-3, '00:00:00'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test('formatTime keeps the full time in plain output and shortens it to seconds on a terminal', () => {
  expect(formatTime('2026-11-20T16:01:05.123Z')).toEqual({
    text: '2026-11-20T16:01:05.123Z',
    rich: '2026-11-20 16:01:05Z',
  });
});

test('formatMebibytes returns mebibytes, or bytes for less than one mebibyte', () => {
  expect([0, 1_048_575, 1_048_576, 157_286_400].map(formatMebibytes)).toEqual([
    '0 B',
    '1048575 B',
    '1.0 MiB',
    '150.0 MiB',
  ]);
});
