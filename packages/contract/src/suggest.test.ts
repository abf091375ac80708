import { expect, test } from 'vitest';
import { findClosest } from './suggest.ts';

test.each([
  ['lst', 'list'],
  ['sesions', 'sessions'],
  ['STATUS', 'status'],
  ['strat', 'start'],
])('findClosest corrects %s to %s', (typed, meant) => {
  expect(findClosest(typed, ['start', 'list', 'sessions', 'status'])).toBe(meant);
});

test.each(['deploy', 'x', '', 'liszzz'])('findClosest suggests nothing for %j', (typed) => {
  expect(findClosest(typed, ['list', 'sessions', 'status'])).toBeNull();
});
