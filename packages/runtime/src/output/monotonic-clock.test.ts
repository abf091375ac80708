import { expect, it } from 'vitest';
import { createMonotonicClock } from './monotonic-clock.ts';

it('createMonotonicClock returns increasing timestamps even if the system clock stands still or is set back', () => {
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
