import { expect, test } from 'vitest';
import { formatCount } from './format-count.ts';

test('formatCount uses the plural for all numbers but 1, and separates thousands', () => {
  expect([0, 1, 1_200].map((count) => formatCount(count, 'line'))).toEqual(['0 lines', '1 line', '1,200 lines']);
});
