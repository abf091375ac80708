import { expect, test } from 'vitest';
import { findTextDifferences } from './text-difference.ts';

const lines = (count: number, changed = '') =>
  Array.from({ length: count }, (_, index) => (index === 9 && changed !== '' ? changed : `line ${index + 1}`)).join(
    '\n',
  );

test('findTextDifferences returns changed lines with their numbers and three lines around them', () => {
  const [part, ...others] = findTextDifferences(lines(20), lines(20, 'other')) ?? [];
  expect(others).toEqual([]);
  expect(part?.map(({ kind, number, text }) => `${kind} ${number} ${text}`)).toEqual([
    'equal 7 line 7',
    'equal 8 line 8',
    'equal 9 line 9',
    'removed 10 line 10',
    'added 10 other',
    'equal 11 line 11',
    'equal 12 line 12',
    'equal 13 line 13',
  ]);
});

test('findTextDifferences returns nothing for equal texts', () => {
  expect(findTextDifferences('a\n', 'a\n')).toEqual([]);
});
