import { expect, test } from 'vitest';
import { formatOffset, formatResponseTime } from './offset.ts';

test.each([
  [-5, '0:00.0'],
  [41_250, '0:41.2'],
  [65_999, '1:05.9'],
  [3_725_100, '1:02:05.1'],
])('formatOffset(%d) returns %s', (offsetMs, text) => {
  expect(formatOffset(offsetMs)).toBe(text);
});

test.each([
  [839.6, '840 ms'],
  [1_244, '1.24 s'],
])('formatResponseTime(%d) returns %s', (durationMs, text) => {
  expect(formatResponseTime(durationMs)).toBe(text);
});
