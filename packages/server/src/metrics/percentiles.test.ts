import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeNearestRankPercentile, computePercentiles } from './percentiles.ts';

/** Definition of the nearest-rank percentile: the smallest value for which at least p percent of the values are not greater. */
function oracle(values: readonly number[], p: number): number | undefined {
  const reaching = values.filter((value) => values.filter((other) => other <= value).length * 100 >= p * values.length);
  return reaching.length === 0 ? undefined : Math.min(...reaching);
}

describe('computePercentiles', () => {
  it('returns the nearest-rank percentiles of a textbook example', () => {
    const sorted = [15, 20, 35, 40, 50];
    expect([5, 30, 40, 50, 100].map((p) => computeNearestRankPercentile(sorted, p))).toEqual([15, 20, 20, 35, 50]);
  });

  it('returns null if there are no values', () => {
    expect(computePercentiles([])).toBeNull();
  });

  it('returns the same value for every percentile if there is only one value', () => {
    expect(computePercentiles([7])).toEqual({ p50: 7, p90: 7, p95: 7, p99: 7 });
  });

  it('returns 50, 90, 95 and 99 for the numbers from 1 to 100 in any order', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(computePercentiles(values)).toEqual({ p50: 50, p90: 90, p95: 95, p99: 99 });
  });

  it('sorts numerically and does not change the input', () => {
    const values = [10, 9, 100];
    expect(computePercentiles(values)?.p50).toBe(10);
    expect(values).toEqual([10, 9, 100]);
  });

  it('returns percentiles that agree with their definition for any values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 1, maxLength: 150 }), (values) => {
        const found = computePercentiles(values);
        expect(found).toEqual({
          p50: oracle(values, 50),
          p90: oracle(values, 90),
          p95: oracle(values, 95),
          p99: oracle(values, 99),
        });
      }),
    );
  });
});
