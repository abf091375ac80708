import { expect, it } from 'vitest';
import { type AttackLatencyImpact, findMissedGoals } from './attack-table.ts';

const figures = (ratio: number, p99Ms: number): AttackLatencyImpact[] => [
  { name: 'start, median', quietMs: 5, attackedMs: 5 * ratio, ratio },
  { name: 'start, p99', quietMs: 10, attackedMs: p99Ms, ratio: p99Ms / 10 },
];

it.each([
  ['on disk', false, 250],
  ['in memory', true, 60],
])(
  'findMissedGoals accepts twice the median and the p99 limit of a database %s, and nothing above',
  (_, isInMemory, limit) => {
    expect(findMissedGoals(figures(2, limit), isInMemory)).toEqual([]);
    expect(findMissedGoals(figures(2.01, limit), isInMemory)).toEqual([expect.stringMatching(/^median: 2\.01 times/)]);
    expect(findMissedGoals(figures(2, limit + 1), isInMemory)).toEqual([expect.stringMatching(/^p99: .* ms, goal/)]);
  },
);

it('findMissedGoals reports figures that were not measured', () => {
  expect(findMissedGoals([], false)).toHaveLength(2);
  expect(findMissedGoals(figures(Number.NaN, Number.NaN), false)).toHaveLength(2);
});
