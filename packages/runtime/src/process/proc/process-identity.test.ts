import { expect, it } from 'vitest';
import { hasEnded, isAlive, parseProcessStat, readProcessStat } from './process-identity.ts';

it('parseProcessStat parses a stat line whose command name contains spaces and parentheses', () => {
  const line = '41 (a) R 9 (x) S 7 41 40 0 -1 4194560 1 2 3 4 11 5 20 6 20 0 1 0 8813 2703360 321 18446744073709551615';
  expect(parseProcessStat(line)).toEqual({
    pid: 41,
    state: 'S',
    parent: 7,
    session: 40,
    startTicks: 8813,
    ownTicks: 16,
    childTicks: 26,
    residentPages: 321,
  });
});

it('parseProcessStat returns null for a truncated stat line', () => {
  expect(parseProcessStat('')).toBeNull();
  expect(parseProcessStat('12 (sh')).toBeNull();
});

it('isAlive identifies a process by pid and start time', () => {
  const own = readProcessStat(process.pid);
  if (own === null) throw new Error('This process has no stat file.');
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ pid: own.pid, startTicks: own.startTicks + 1 })).toBe(false);
  expect(hasEnded({ ...own, state: 'Z' })).toBe(true);
});
