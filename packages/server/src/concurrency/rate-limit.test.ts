import { expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

test('a rate limit gives each key a burst and then tokens at a constant rate', () => {
  let at = 0;
  const limit = createRateLimit({ burst: 3, perSecond: 2 }, () => new Date(at));
  const taken = (key: string) => Array.from({ length: 5 }, () => limit.take(key));
  expect(taken('one')).toEqual([true, true, true, false, false]);
  expect(taken('other')).toEqual([true, true, true, false, false]);
  at += 400;
  expect(limit.take('one')).toBe(false);
  at += 100;
  expect(taken('one')).toEqual([true, false, false, false, false]);
  at += 3_600_000;
  expect(taken('one')).toEqual([true, true, true, false, false]);
  at -= 7_200_000;
  expect(limit.take('one')).toBe(false);
});

test('a rate limit removes full buckets when it has too many buckets', () => {
  let at = 0;
  const limit = createRateLimit({ burst: 1, perSecond: 1 }, () => new Date(at));
  for (let number = 0; number < 30_000; number++) {
    expect(limit.take(String(number))).toBe(true);
    at += 1;
  }
  expect(limit.take('29999')).toBe(false);
});
