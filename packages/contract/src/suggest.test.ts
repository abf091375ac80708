import { expect, test } from 'vitest';
import { closest } from './suggest.ts';

test.each([
  ['lst', 'list'],
  ['sesions', 'sessions'],
  ['STATUS', 'status'],
  ['strat', 'start'],
])('%s is near to %s', (typed, meant) => {
  expect(closest(typed, ['start', 'list', 'sessions', 'status'])).toBe(meant);
});

test.each(['deploy', 'x', '', 'liszzz'])('%j is near to nothing', (typed) => {
  expect(closest(typed, ['list', 'sessions', 'status'])).toBeNull();
});
