import { expect, it } from 'vitest';
import { createStamps } from './stamps.ts';

it('never hands out a stamp twice, nor an earlier one, whatever the clock does', () => {
  let now = 5;
  const stamps = createStamps(() => new Date(now));
  expect([stamps.next(), stamps.next()]).toEqual([5000, 5001]);
  now = 3;
  expect(stamps.next()).toBe(5002);
  now = 6;
  expect(stamps.next()).toBe(6000);
  stamps.after(9_000);
  expect(stamps.next()).toBe(9_001);
});
