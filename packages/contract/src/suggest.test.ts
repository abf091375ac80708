import { expect, test } from 'vitest';
import { closest } from './suggest.ts';

test.each([
  ['lst', 'list'],
  ['sesions', 'sessions'],
  ['STATUS', 'status'],
  ['strat', 'start'],
])('closest suggests for %s: %s', (typed, meant) => {
  expect(closest(typed, ['start', 'list', 'sessions', 'status'])).toBe(meant);
});

test.each(['deploy', 'x', '', 'liszzz'])('closest suggests nothing for %j', (typed) => {
  expect(closest(typed, ['list', 'sessions', 'status'])).toBeNull();
});
