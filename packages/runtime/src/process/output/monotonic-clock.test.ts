import { expect, it } from 'vitest';
import { createMonotonicClock } from './monotonic-clock.ts';

it('never hands out a stamp twice, nor an earlier one, whatever the clock does', () => {
  let now = 5;
  const clock = createMonotonicClock(() => new Date(now));
  expect([clock.next(), clock.next()]).toEqual([5000, 5001]);
  now = 3;
  expect(clock.next()).toBe(5002);
  now = 6;
  expect(clock.next()).toBe(6000);
  clock.after(9_000);
  expect(clock.next()).toBe(9_001);
});
