import { expect, it } from 'vitest';
import { createIntervals } from './histogram.ts';

it('createIntervals counts lines, warnings and errors per interval', () => {
  const intervals = createIntervals(0, 101);
  for (const [at, level] of [
    [101, 'ERROR'],
    [101, 'CRITICAL'],
    [101, null],
    [100, 'WARNING'],
  ] as const)
    intervals.add(at, level);
  expect(intervals.list()).toEqual({
    stepSeconds: 1,
    intervals: [
      { at: 100, lines: 1, warnings: 1, errors: 0 },
      { at: 101, lines: 3, warnings: 0, errors: 2 },
    ],
  });
});

it('createIntervals joins intervals so that there are never many, and loses no line', () => {
  const intervals = createIntervals(0, 1_000_000);
  for (let at = 1_000_000; at > 0; at -= 997) intervals.add(at, at % 2 === 0 ? 'ERROR' : 'INFO');
  const { stepSeconds, intervals: listed } = intervals.list();
  expect(stepSeconds).toBe(10_800);
  expect(listed.length).toBeLessThanOrEqual(121);
  expect(listed.every(({ at }, index) => at % stepSeconds === 0 && at > (listed[index - 1]?.at ?? -1))).toBe(true);
  expect(listed.reduce((total, { lines }) => total + lines, 0)).toBe(Math.ceil(1_000_000 / 997));
  expect(listed.reduce((total, { errors }) => total + errors, 0)).toBe(502);
});

it('createIntervals starts with intervals that suit the period of the request', () => {
  const createForPeriod = (seconds: number) => createIntervals(seconds, seconds).list().stepSeconds;
  expect(createForPeriod(3_600)).toBe(60);
  expect(createForPeriod(86_400)).toBe(900);
  expect(createForPeriod(9_999 * 31_536_000)).toBe(31_536_000);
});

it('createIntervals joins intervals if the end of the period is long after the last line', () => {
  const intervals = createIntervals(0, 20 * 86_400);
  intervals.add(0, null);
  expect(intervals.list().stepSeconds).toBe(43_200);
});
