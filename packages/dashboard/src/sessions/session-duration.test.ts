import { expect, test } from 'vitest';
import { computeSessionDurationMs, formatBotStartDuration } from './session-duration.ts';

test.each([
  [{ botStartSeconds: null, botStartMilliseconds: null, coldStart: null }, '—'],
  [{ botStartSeconds: 0, botStartMilliseconds: 22, coldStart: false }, '22 ms, warm'],
  [{ botStartSeconds: 1, botStartMilliseconds: 999, coldStart: false }, '999 ms, warm'],
  [{ botStartSeconds: 3, botStartMilliseconds: 2_800, coldStart: true }, '3 s, cold'],
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
