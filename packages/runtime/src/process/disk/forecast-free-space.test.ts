import { describe, expect, it } from 'vitest';
import {
  type FreeSpaceForecast,
  type FreeSpaceSample,
  forecastFreeSpace,
  selectRecentSamples,
} from './forecast-free-space.ts';

const gib = 1024 ** 3;
const mib = 1024 ** 2;
const reserve = gib;
const sample = (bytes: number, atMs: number): FreeSpaceSample => ({ bytes, atMs });

describe('forecastFreeSpace', () => {
  it.for<
    [situation: string, earlier: FreeSpaceSample[], latest: FreeSpaceSample, expected: Partial<FreeSpaceForecast>]
  >([
    [
      'rarely measures a disk with plenty of space',
      [sample(100 * gib, 0)],
      sample(100 * gib, 1_000),
      { isFalling: false, isReserveAtRisk: false, pauseMs: 1_000, measureEveryMs: 10_000 },
    ],
    [
      'reports no fall and no risk from a single sample',
      [],
      sample(3 * gib, 0),
      { isFalling: false, isReserveAtRisk: false },
    ],
    ['measures each second below four reserves', [], sample(4 * gib - 1, 0), { measureEveryMs: 1_000 }],
    ['polls more often if the free space is closer to the reserve', [], sample(3 * gib, 0), { pauseMs: 250 }],
    ['waits at least 50 ms between two polls', [], sample(gib, 0), { pauseMs: 50 }],
    [
      'sees the reserve at risk while a fast writer is still far above it',
      [sample(3 * gib, 0)],
      sample(2.2 * gib, 300),
      { isFalling: true, isReserveAtRisk: true, measureEveryMs: 200 },
    ],
    [
      'sees no risk if a slow writer leaves time to react',
      [sample(3 * gib, 0)],
      sample(3 * gib - 10 * mib, 300),
      { isFalling: true, isReserveAtRisk: false, measureEveryMs: 1_000 },
    ],
    [
      'counts a fall between two close samples as if it had taken the whole window',
      [sample(2 * gib, 0)],
      sample(2 * gib - 100 * mib, 1),
      { isFalling: true, isReserveAtRisk: false },
    ],
    [
      'sees the reserve at risk with less free space than 9/8 of the reserve',
      [],
      sample(1.125 * gib - 1, 0),
      { isReserveAtRisk: true },
    ],
    ['sees no risk with exactly 9/8 of the reserve free', [], sample(1.125 * gib, 0), { isReserveAtRisk: false }],
    [
      'measures without urgency while the space below the reserve grows',
      [sample(0.5 * gib, 0)],
      sample(0.6 * gib, 300),
      { isFalling: false, isReserveAtRisk: true, measureEveryMs: 1_000 },
    ],
  ])('%s', ([, earlier, latest, expected]) => {
    expect(forecastFreeSpace(earlier, latest, reserve)).toMatchObject(expected);
  });

  it('never reports the reserve as at risk if the reserve is 0', () => {
    expect(forecastFreeSpace([sample(gib, 0)], sample(0, 300), 0).isReserveAtRisk).toBe(false);
  });
});

describe('selectRecentSamples', () => {
  it.for<[situation: string, nowMs: number, expected: number[]]>([
    ['keeps the samples of the last 300 ms', 400, [100, 200]],
    ['keeps the last sample if all are older', 5_000, [200]],
  ])('%s', ([, nowMs, expected]) => {
    const samples = [sample(3, 0), sample(2, 100), sample(1, 200)];
    expect(selectRecentSamples(samples, nowMs).map(({ atMs }) => atMs)).toEqual(expected);
  });
});
