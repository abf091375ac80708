import { expect, test } from 'vitest';
import { sparkline } from './sparkline.ts';

test('a series is drawn between its least and its greatest value', () => {
  expect(sparkline([0, 50, 100], 10)).toBe('▁▅█');
  expect(sparkline([1_000, 1_001], 10)).toBe('▁█');
});

test('a flat series is a low line, and no series is no line', () => {
  expect(sparkline([7, 7, 7], 10)).toBe('▁▁▁');
  expect(sparkline([], 10)).toBe('');
});

test('a series longer than the line keeps its peak', () => {
  const values = Array.from({ length: 720 }, (_, index) => (index === 401 ? 9 : 1));
  expect(sparkline(values, 60)).toBe(`${'▁'.repeat(33)}█${'▁'.repeat(26)}`);
});

test('a line is as long as its series, or as asked', () => {
  for (const length of [0, 1, 2, 59, 60, 61, 119, 720]) {
    const values = Array.from({ length }, (_, index) => (index * 7_919) % 1_000);
    for (const width of [1, 10, 60, 200]) expect(sparkline(values, width)).toHaveLength(Math.min(length, width));
  }
});
