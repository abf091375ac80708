import { expect, test } from 'vitest';
import { findClosestWord } from './find-closest-word.ts';

test.each([
  ['lst', 'list'],
  ['sesions', 'sessions'],
  ['STATUS', 'status'],
  ['strat', 'start'],
])('findClosestWord corrects the word %s to %s', (typed, meant) => {
  expect(findClosestWord(typed, ['start', 'list', 'sessions', 'status'])).toBe(meant);
});

test.each(['deploy', 'x', '', 'liszzz'])('findClosestWord suggests nothing for the word %j', (typed) => {
  expect(findClosestWord(typed, ['list', 'sessions', 'status'])).toBeNull();
});
