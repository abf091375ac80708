import { expect, it } from 'vitest';
import { getNextAttemptAt } from './retry-schedule.ts';

it('getNextAttemptAt spreads ten retries over 24 hours, with growing delays, and then gives up', () => {
  const start = new Date('2026-11-20T12:00:00.000Z');
  const times = [start.getTime()];
  for (let attempts = 1; ; attempts += 1) {
    const next = getNextAttemptAt(attempts, new Date(times.at(-1) ?? 0));
    if (next === null) break;
    times.push(next.getTime());
  }
  const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(delays).toHaveLength(10);
  expect((times.at(-1) ?? 0) - start.getTime()).toBe(86_400_000);
});
