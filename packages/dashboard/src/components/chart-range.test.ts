import { expect, test } from 'vitest';
import { clampRange, countTimestampsPerInterval, zoomRange } from './chart-range.ts';

const whole = { from: 100, to: 200 };

test('zoomRange scales a range around its middle within the limits, and returns null if it reaches both limits', () => {
  expect(zoomRange(whole, 0.5, whole)).toEqual({ from: 125, to: 175 });
  expect(zoomRange({ from: 100, to: 150 }, 2, whole)).toEqual({ from: 100, to: 175 });
  expect(zoomRange({ from: 125, to: 175 }, 2, whole)).toBeNull();
  expect(zoomRange({ from: 149, to: 151 }, 0.1, whole)).toEqual({ from: 149, to: 151 });
});

test('clampRange returns the part of a range that is within the whole range, or null if that part covers more than 95 % of the whole', () => {
  expect(clampRange({ from: 90, to: 150 }, whole)).toEqual({ from: 100, to: 150 });
  expect(clampRange({ from: 90, to: 210 }, whole)).toBeNull();
  expect(clampRange({ from: 101, to: 199 }, whole)).toBeNull();
});

test('countTimestampsPerInterval counts times at both ends of the range, and ignores times outside the range', () => {
  expect(countTimestampsPerInterval([99, 100, 124, 125, 200, 201], whole, 4)).toEqual([2, 1, 0, 1]);
});
