import { expect, it } from 'vitest';
import { chooseRefreshMs, createBars } from './histogram.ts';

const [errors, warnings, lines] = [1, 2, 4];

it('createBars covers the time from the first line until now', () => {
  const histogram = { stepSeconds: 60, intervals: [{ at: 120, lines, warnings, errors }], countedFrom: null };
  expect(createBars(histogram, {}, 290_000)).toEqual({
    times: [120, 180, 240, 300],
    lines: [lines, null, null, null],
    warnings: [warnings + errors, null, null, null],
    errors: [errors, null, null, null],
    range: { from: 120, to: 300 },
  });
});

it.each([
  ['a period without lines', { since: '30d' }],
  ['a selected range that is long', { from: 0, to: 1_800_000_000 }],
])('createBars returns a limited number of bars for %s', (_, filter) => {
  const { times, range } = createBars({ stepSeconds: 1, intervals: [], countedFrom: null }, filter, 1_800_000_000_000);
  expect(times).toHaveLength(151);
  expect(range).toEqual({ from: 1_799_999_850, to: 1_800_000_000 });
});

it('chooseRefreshMs waits longer after a histogram that reached a limit', () => {
  const histogram = { stepSeconds: 1, intervals: [] };
  expect(chooseRefreshMs(undefined)).toBe(15_000);
  expect(chooseRefreshMs({ ...histogram, countedFrom: null })).toBe(15_000);
  expect(chooseRefreshMs({ ...histogram, countedFrom: 1_000 })).toBe(120_000);
});
