import { expect, test } from 'vitest';
import { drawSparkline } from './sparkline.ts';

test('scales a series between its minimum and maximum', () => {
  expect(drawSparkline([0, 50, 100], 10)).toBe('▁▅█');
  expect(drawSparkline([1_000, 1_001], 10)).toBe('▁█');
});

test('draws the lowest bars for a series of equal values, and nothing for an empty series', () => {
  expect(drawSparkline([7, 7, 7], 10)).toBe('▁▁▁');
  expect(drawSparkline([], 10)).toBe('');
});

test('keeps the maximum values when it shortens a long series', () => {
  const values = Array.from({ length: 720 }, (_, index) => (index === 401 ? 9 : 1));
  expect(drawSparkline(values, 60)).toBe(`${'▁'.repeat(33)}█${'▁'.repeat(26)}`);
});

test('draws one bar per value, up to the given width', () => {
  for (const length of [0, 1, 2, 59, 60, 61, 119, 720]) {
    const values = Array.from({ length }, (_, index) => (index * 7_919) % 1_000);
    for (const width of [1, 10, 60, 200]) expect(drawSparkline(values, width)).toHaveLength(Math.min(length, width));
  }
});
