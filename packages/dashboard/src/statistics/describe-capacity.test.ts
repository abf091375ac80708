import { describe, expect, it } from 'vitest';
import { describeCapacity } from './describe-capacity.ts';

const now = new Date('2026-11-23T12:00:00');
const statistics = (...points: readonly (readonly [openAtMost: number, limit: number])[]) => ({
  stepSeconds: 1_800,
  points: points.map(([openAtMost, limit], index) => ({
    at: new Date(now.getTime() - (points.length - index) * 1_800_000).toISOString(),
    openAtMost,
    limit,
  })),
});

describe('describeCapacity', () => {
  it('says nothing if the limit was not reached, or if there was none', () => {
    expect(describeCapacity(statistics([3, 4], [0, 0]), false, now)).toBeUndefined();
  });

  it('says when the limit was reached last', () => {
    expect(describeCapacity(statistics([4, 4], [4, 4], [1, 4]), false, now)).toBe(
      'The limit was reached, last from 11:00 to 11:30.',
    );
  });

  it('explains sessions above a limit that was lowered or whose agent was deleted, and does not say that it was reached', () => {
    const explanation = 'Sessions above the limit began before it was lowered, or before their agent was deleted.';
    expect(describeCapacity(statistics([2, 2], [3, 2]), true, now)).toBe(
      `All agents together reached their limits, last from 11:00 to 11:30. ${explanation}`,
    );
    expect(describeCapacity(statistics([6, 5], [1, 5]), false, now)).toBe(explanation);
    expect(describeCapacity(statistics([1, 0]), true, now)).toBe(explanation);
  });
});
