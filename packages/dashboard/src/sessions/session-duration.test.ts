import { expect, test } from 'vitest';
import { computeSessionDurationMs, formatBotStartDuration, formatLongDuration } from './session-duration.ts';

test.each([
  [999, '< 1 s'],
  [1_000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min 0 s'],
  [3_599_000, '59 min 59 s'],
  [7_800_000, '2 h 10 min'],
])('formatLongDuration formats %d ms as %s', (durationMs, text) => {
  expect(formatLongDuration(durationMs)).toBe(text);
});

test.each([
  [{ botStartSeconds: null, coldStart: null }, '—'],
  [{ botStartSeconds: 0, coldStart: false }, '< 1 s, warm'],
  [{ botStartSeconds: 3, coldStart: true }, '3 s, cold'],
])('formatBotStartDuration formats %o as %s', (session, text) => {
  expect(formatBotStartDuration(session)).toBe(text);
});

test('computeSessionDurationMs measures from creation to the end, or to now for an active session, and is never negative', () => {
  const createdAt = '2026-11-23T12:00:00.000Z';
  const now = Date.parse('2026-11-23T12:01:00.000Z');
  expect(computeSessionDurationMs({ createdAt, endedAt: '2026-11-23T12:00:10.000Z' }, now)).toBe(10_000);
  expect(computeSessionDurationMs({ createdAt, endedAt: null }, now)).toBe(60_000);
  expect(computeSessionDurationMs({ createdAt, endedAt: null }, now - 90_000)).toBe(0);
});
