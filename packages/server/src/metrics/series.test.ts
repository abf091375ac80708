import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeSeries, type Sample } from './series.ts';

const start = 1_790_000_000;
const every = (count: number, sample: (second: number) => readonly [number, number]) =>
  Array.from({ length: count }, (_, second): Sample => [start + second, ...sample(second)]);

describe('computeSeries', () => {
  it('returns no points if there are no samples', () => {
    expect(computeSeries([])).toEqual([]);
  });

  it('returns the mean CPU and the highest memory for every 5 s, starting at the first sample', () => {
    const samples = every(7, (second) => [second * 100, second === 3 ? 900 : 10]);
    expect(computeSeries(samples)).toEqual([
      { t: start, c: 200, m: 900 },
      { t: start + 5, c: 550, m: 10 },
    ]);
  });

  it('returns no points for time steps without samples', () => {
    const samples: Sample[] = [
      [start, 1, 1],
      [start + 60, 3, 3],
    ];
    expect(computeSeries(samples)).toEqual([
      { t: start, c: 1, m: 1 },
      { t: start + 60, c: 3, m: 3 },
    ]);
  });

  it('returns 720 points of 5 s for an hour', () => {
    const points = computeSeries(every(3_600, () => [1, 1]));
    expect(points).toHaveLength(720);
    expect(points[1]?.t).toBe(start + 5);
  });

  it('returns a point for every 10 s of a session that lasts 3,601 s', () => {
    const points = computeSeries(every(3_601, () => [1, 1]));
    expect(points).toHaveLength(361);
    expect(points[1]?.t).toBe(start + 10);
  });

  it('returns at most 720 points for four hours', () => {
    const points = computeSeries(every(14_400, () => [1, 1]));
    expect(points).toHaveLength(720);
    expect(points[1]?.t).toBe(start + 20);
  });

  it('returns at most 720 points in ascending order of time, with no value above the highest sample', () => {
    const anySamples = fc
      .array(fc.tuple(fc.nat(600), fc.nat(4_000), fc.nat(2 ** 32)), { minLength: 1, maxLength: 60 })
      .map((rows) => {
        let t = start;
        return rows.map(([gap, c, m]): Sample => {
          t += gap;
          return [t, c, m];
        });
      });
    fc.assert(
      fc.property(anySamples, (samples) => {
        const points = computeSeries(samples);
        expect(points.length).toBeLessThanOrEqual(720);
        expect(points.length).toBeGreaterThan(0);
        expect(points.every(({ t }, index) => index === 0 || t > (points[index - 1]?.t ?? 0))).toBe(true);
        expect(points.every(({ t }) => (t - (samples[0]?.[0] ?? 0)) % 5 === 0)).toBe(true);
        expect(Math.max(...points.map(({ m }) => m))).toBe(Math.max(...samples.map(([, , m]) => m)));
        expect(Math.max(...points.map(({ c }) => c))).toBeLessThanOrEqual(Math.max(...samples.map(([, c]) => c)));
      }),
    );
  });
});
