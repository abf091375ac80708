import { describe, expect, it } from 'vitest';
import { disorder, untruths } from './invariants.ts';
import type { SessionRecord } from './observer.ts';
import type { Drive } from './session-scenario.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second));
const said = (what: 'entered' | 'ended', second: number, instance = 'i') => ({
  what,
  session: 's',
  instance,
  at: at(second).getTime(),
});
const drive: Drive = {
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
const entries = [said('entered', 3), said('ended', 9)];
const oneLife = [{ bornAt: at(0).getTime(), diedAt: null }];

describe('what is not true in a record', () => {
  it('is nothing, when all is', () => {
    expect(untruths(drive, record, entries, oneLife)).toEqual([]);
    expect(disorder([drive], [record], entries)).toEqual([]);
  });

  const stopped = { ...drive, stopAskedAt: at(5).getTime() };
  const dead = { bornAt: at(0).getTime(), diedAt: at(8).getTime() };
  const next = { bornAt: at(12).getTime(), diedAt: null };
  it.each([
    ['a lost session', drive, undefined, entries, oneLife, /lost/],
    ['another end', drive, { ...record, completion_status: 'HTTP_ERROR' }, entries, oneLife, /its end is HTTP_ERROR/],
    ['an end that a stop did not make', stopped, record, entries, oneLife, /SESSION_STOPPED would be true/],
    ['an end of a bot that was never called', drive, record, [], oneLife, /no bot ever had it/],
    ['a bot that was called twice', drive, record, [...entries, said('entered', 4)], oneLife, /called 2 times/],
    ['a bot of another instance', drive, record, [said('entered', 3, 'j')], oneLife, /another instance/],
    ['an end before the start', drive, { ...record, ended_at: at(2) }, [said('entered', 3)], oneLife, /out of order/],
    [
      'an end before the bot was done',
      drive,
      { ...record, ended_at: at(8) },
      entries,
      oneLife,
      /before its bot was done/,
    ],
    ['an end when somebody came back', drive, { ...record, ended_at: at(13) }, entries, [dead, next], /no server ran/],
    ['a start before it was asked for', drive, { ...record, created_at: at(-1) }, entries, oneLife, /not created when/],
    ['a start of unknown kind', drive, { ...record, cold_start: null }, entries, oneLife, /cold/],
  ])('%s', (_, one, untrue, diary, lives, expected) => {
    expect(untruths(one, untrue, diary, lives).join()).toMatch(expected);
  });

  it('a session that nobody asked for, and an instance with two', () => {
    const other = { ...said('entered', 4), session: 'other' };
    expect(disorder([], [record], [...entries, other]).join()).toMatch(/nobody asked.*had 2 sessions/);
  });
});
