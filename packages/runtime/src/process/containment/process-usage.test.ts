import { describe, expect, it } from 'vitest';
import type { ProcessStat } from '../proc/process-identity.ts';
import { lostTicks, openUsageAccount } from './process-usage.ts';

const UNITS = { pageBytes: 4096, microsecondsPerTick: 10_000 };

function stat(pid: number, parent: number, ownTicks: number, childTicks = 0, startTicks = 1): ProcessStat {
  return { pid, parent, ownTicks, childTicks, startTicks, state: 'S', session: 1, residentPages: 10 };
}

const table = (...stats: readonly ProcessStat[]) => new Map(stats.map((entry) => [entry.pid, entry]));

describe('ticks of processes that vanished', () => {
  it.each([
    ['nothing when nobody vanished', table(stat(1, 0, 5)), table(stat(1, 0, 9)), 0],
    ['nothing when the parent took them over', table(stat(1, 0, 5), stat(2, 1, 7)), table(stat(1, 0, 5, 7)), 0],
    ['all when the parent did not wait', table(stat(1, 0, 5), stat(2, 1, 7)), table(stat(1, 0, 5)), 7],
    ['all when there is no parent in the set', table(stat(1, 0, 5), stat(3, 99, 7, 2)), table(stat(1, 0, 5)), 9],
    [
      'what a vanished parent had not handed on',
      table(stat(1, 0, 5), stat(2, 1, 7), stat(3, 2, 4)),
      table(stat(1, 0, 5, 7)),
      4,
    ],
    [
      'a reused pid counts as vanished',
      table(stat(1, 0, 5), stat(2, 1, 7)),
      table(stat(1, 0, 5), stat(2, 1, 0, 0, 9)),
      7,
    ],
  ])('are %s', (_, before, after, lost) => {
    expect(lostTicks(before, after)).toBe(lost);
  });
});

it('never falls, and counts no memory of zombies', () => {
  const account = openUsageAccount(UNITS);
  expect(account([stat(1, 0, 5), stat(2, 1, 7)])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 81_920 });
  expect(account([stat(1, 0, 5), { ...stat(2, 1, 7), state: 'Z' }]).memoryBytes).toBe(40_960);
  expect(account([stat(1, 0, 5)])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 40_960 });
  expect(account([])).toEqual({ cpuMicroseconds: 120_000, memoryBytes: 0 });
});
