import { describe, expect, it } from 'vitest';
import type { BotEvent } from './bot-event-file.ts';
import {
  findCrossSessionViolations,
  findViolations,
  type Scenario,
  type ServerLifetime,
  type SessionRecord,
} from './invariants.ts';

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
const oneServer: readonly ServerLifetime[] = [{ startedAt: at(0).getTime(), exitedAt: null }];
const valid: {
  readonly scenario: Scenario;
  readonly record: SessionRecord | undefined;
  readonly entries: readonly BotEvent[];
  readonly servers: readonly ServerLifetime[];
} = { scenario, record, entries, servers: oneServer };

describe('findViolations', () => {
  it('returns nothing for a valid record', () => {
    expect(findViolations(scenario, record, entries, oneServer)).toEqual([]);
    expect(findCrossSessionViolations([scenario], [record], entries)).toEqual([]);
  });

  const first = { startedAt: at(0).getTime(), exitedAt: at(8).getTime() };
  const next = { startedAt: at(12).getTime(), exitedAt: null };
  const earlyCall = { entries: [entry('entered', 3)] };
  it.each<[name: string, changes: Partial<typeof valid>, expected: RegExp]>([
    ['a lost session', { record: undefined }, /lost/],
    ['another end', { record: { ...record, completion_status: 'HTTP_ERROR' } }, /ended with HTTP_ERROR/],
    [
      'an end other than the requested stop',
      { scenario: { ...scenario, stopAskedAt: at(5).getTime() } },
      /instead of SESSION_STOPPED/,
    ],
    ['an end of a bot that was never called', { entries: [] }, /no bot was called/],
    ['a bot that was called twice', { entries: [...entries, entry('entered', 4)] }, /called 2 times/],
    ['a bot of another instance', { entries: [entry('entered', 3, 'j')] }, /another instance was called/],
    ['an end before the start', { record: { ...record, ended_at: at(2) }, ...earlyCall }, /out of order/],
    ['an end before the bot was done', { record: { ...record, ended_at: at(8) } }, /before its bot was done/],
    [
      'an end after the next server started',
      { record: { ...record, ended_at: at(13) }, servers: [first, next] },
      /no server ran/,
    ],
    ['a start before its request', { record: { ...record, created_at: at(-1) } }, /not created between/],
    ['a start of unknown kind', { record: { ...record, cold_start: null } }, /cold/],
    [
      'an interruption without an exit of a server',
      { record: { ...record, completion_status: 'SERVICE_INTERRUPTED' }, scenario: { ...scenario, kind: 'socket' } },
      /no server exited/,
    ],
  ])('reports the violation: %s', (_, changes, expected) => {
    const changed = { ...valid, ...changes };
    expect(findViolations(changed.scenario, changed.record, changed.entries, changed.servers).join()).toMatch(expected);
  });

  describe('while the test killed bots', () => {
    const stopped = { ...scenario, kind: 'stopped' as const, stopAskedAt: at(5).getTime() };
    const inPod = { ...record, runtime: 'kubernetes' };
    const killed = [{ from: at(4).getTime(), to: at(6).getTime() }];
    const find = (of: Scenario, stored: SessionRecord, events = entries) =>
      findViolations(of, stored, events, oneServer, killed).join();

    it('accepts that the parrot completes a session whose pod is deleted', () => {
      expect(find(stopped, inPod)).toBe('');
    });

    it('reports a completion outside of Kubernetes, of another bot, or of a bot that was never called', () => {
      expect(find(stopped, { ...inPod, runtime: 'docker' })).toMatch(/instead of SESSION_STOPPED/);
      expect(find({ ...scenario, kind: 'mute-fails' }, inPod)).toMatch(/instead of 500 or HTTP_ERROR/);
      expect(find(stopped, inPod, [])).toMatch(/instead of SESSION_STOPPED/);
    });
  });

  it('reports a session that was not requested and an instance with two sessions', () => {
    const other = { ...entry('entered', 4), session: 'other' };
    expect(findCrossSessionViolations([], [record], [...entries, other]).join()).toMatch(
      /was not requested.*had 2 sessions/,
    );
  });
});
