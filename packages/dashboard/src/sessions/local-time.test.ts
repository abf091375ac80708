import { expect, it } from 'vitest';
import { formatLocalTime, parseLocalTime } from './local-time.ts';

it('parseLocalTime returns the time that formatLocalTime formats', () => {
  const seconds = new Date('2026-11-23T14:03:00').getTime() / 1_000;
  expect(formatLocalTime(seconds)).toBe('2026-11-23T14:03');
  expect(parseLocalTime('2026-11-23T14:03')).toBe(seconds);
});

it.each(['', '2026-11-23', '0002-11-23T14:03'])('parseLocalTime ignores the incomplete value "%s"', (text) => {
  expect(parseLocalTime(text)).toBeUndefined();
});
