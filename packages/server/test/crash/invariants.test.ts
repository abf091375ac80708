import { describe, expect, it } from 'vitest';
import { findCrossSessionViolations, findViolations } from './invariants.ts';
import type { SessionRecord } from './observer.ts';
import type { Scenario } from './session-scenario.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second));
const entry = (what: 'entered' | 'ended', second: number, instance = 'i') => ({
  what,
  session: 's',
  instance,
  at: at(second).getTime(),
});
const scenario: Scenario = {
  tag: 't',
  kind: 'leaves',
  askedAt: at(0).getTime(),
  answeredAt: at(2).getTime(),
  sessionId: 's',
  stopAskedAt: null,
  problems: [],
};
const record = {
  id: 's',
  transport: 'none',
  instance_id: 'i',
  created_at: at(1),
  requested_at: at(1),
  bot_started_at: at(3),
  ended_at: at(9),
  cold_start: true,
  completion_status: 'HTTP_COMPLETED',
} as SessionRecord;
const entries = [entry('entered', 3), entry('ended', 9)];
const oneServer = [{ startedAt: at(0).getTime(), exitedAt: null }];

describe('findViolations', () => {
  it('returns nothing for a valid record', () => {
    expect(findViolations(scenario, record, entries, oneServer)).toEqual([]);
    expect(findCrossSessionViolations([scenario], [record], entries)).toEqual([]);
  });

  const stopped = { ...scenario, stopAskedAt: at(5).getTime() };
  const first = { startedAt: at(0).getTime(), exitedAt: at(8).getTime() };
  const next = { startedAt: at(12).getTime(), exitedAt: null };
  it.each([
    ['a lost session', scenario, undefined, entries, oneServer, /lost/],
    [
      'another end',
      scenario,
      { ...record, completion_status: 'HTTP_ERROR' as const },
      entries,
      oneServer,
      /ended with HTTP_ERROR/,
    ],
    ['an end other than the requested stop', stopped, record, entries, oneServer, /instead of SESSION_STOPPED/],
    ['an end of a bot that was never called', scenario, record, [], oneServer, /no bot was called/],
    ['a bot that was called twice', scenario, record, [...entries, entry('entered', 4)], oneServer, /called 2 times/],
    [
      'a bot of another instance',
      scenario,
      record,
      [entry('entered', 3, 'j')],
      oneServer,
      /another instance was called/,
    ],
    [
      'an end before the start',
      scenario,
      { ...record, ended_at: at(2) },
      [entry('entered', 3)],
      oneServer,
      /out of order/,
    ],
    [
      'an end before the bot was done',
      scenario,
      { ...record, ended_at: at(8) },
      entries,
      oneServer,
      /before its bot was done/,
    ],
    [
      'an end after the next server started',
      scenario,
      { ...record, ended_at: at(13) },
      entries,
      [first, next],
      /no server ran/,
    ],
    [
      'a start before its request',
      scenario,
      { ...record, created_at: at(-1) },
      entries,
      oneServer,
      /not created between/,
    ],
    ['a start of unknown kind', scenario, { ...record, cold_start: null }, entries, oneServer, /cold/],
  ])('reports the violation: %s', (_, one, invalid, botEvents, processes, expected) => {
    expect(findViolations(one, invalid, botEvents, processes).join()).toMatch(expected);
  });

  it('reports a session that was not requested and an instance with two sessions', () => {
    const other = { ...entry('entered', 4), session: 'other' };
    expect(findCrossSessionViolations([], [record], [...entries, other]).join()).toMatch(
      /was not requested.*had 2 sessions/,
    );
  });
});
