import { describe, expect, it } from 'vitest';
import type { ProcessStat } from '../proc/process-identity.ts';
import { countEndedProcessTicks, createUsageCounter } from './process-usage.ts';

const units = { pageBytes: 4096, microsecondsPerTick: 10_000 };

function stat(pid: number, parent: number, ownTicks: number, childTicks = 0, startTicks = 1): ProcessStat {
  return { pid, parent, ownTicks, childTicks, startTicks, state: 'S', session: 1, residentPages: 10 };
}

const table = (...stats: readonly ProcessStat[]) => new Map(stats.map((entry) => [entry.pid, entry]));

describe('countEndedProcessTicks', () => {
  it.each([
    ['counts nothing if every process still exists', table(stat(1, 0, 5)), table(stat(1, 0, 9)), 0],
    [
      'counts nothing if the parent waited for the process',
      table(stat(1, 0, 5), stat(2, 1, 7)),
      table(stat(1, 0, 5, 7)),
      0,
    ],
    ['counts all ticks if the parent did not wait', table(stat(1, 0, 5), stat(2, 1, 7)), table(stat(1, 0, 5)), 7],
    [
      'counts all ticks if the parent is not in the set',
      table(stat(1, 0, 5), stat(3, 99, 7, 2)),
      table(stat(1, 0, 5)),
      9,
    ],
    [
      'counts the ticks of an ended child that its ended parent had not passed on',
      table(stat(1, 0, 5), stat(2, 1, 7), stat(3, 2, 4)),
      table(stat(1, 0, 5, 7)),
      4,
    ],
    [
      'counts a process whose pid was reused',
      table(stat(1, 0, 5), stat(2, 1, 7)),
      table(stat(1, 0, 5), stat(2, 1, 0, 0, 9)),
      7,
    ],
  ])('%s', (_, before, after, lost) => {
    expect(countEndedProcessTicks(before, after)).toBe(lost);
  });
});

it('createUsageCounter reports CPU time that never decreases, and memory that excludes zombies', () => {
  const countUsage = createUsageCounter(units);
  expect(countUsage([stat(1, 0, 5), stat(2, 1, 7)])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 81_920 });
  expect(countUsage([stat(1, 0, 5), { ...stat(2, 1, 7), state: 'Z' }]).memoryBytes).toBe(40_960);
  expect(countUsage([stat(1, 0, 5)])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 40_960 });
  expect(countUsage([])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 0 });
});
