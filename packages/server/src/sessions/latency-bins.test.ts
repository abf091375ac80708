import { expect, it } from 'vitest';
import { computePercentileMs } from './latency-bins.ts';

const bin = (milliseconds: number) => Math.round(Math.log(milliseconds) / Math.log(1.15));

it.each([
  ['the smallest latency at share 0.25', 0.25, 100],
  ['the median', 0.5, 200],
  ['the largest latency at share 0.95', 0.95, 4000],
])('computePercentileMs returns %s by nearest rank, within 8 %%', (_, share, expected) => {
  const histogram = new Map([
    [bin(4000), 1],
    [bin(100), 1],
    [bin(200), 2],
  ]);
  const found = computePercentileMs(histogram, share) ?? 0;
  expect(Math.abs(found - expected) / expected).toBeLessThan(0.08);
});

it('computePercentileMs returns null for an empty histogram', () => {
  expect(computePercentileMs(new Map(), 0.5)).toBeNull();
});
