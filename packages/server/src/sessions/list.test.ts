import {
  nameSessionEnd,
  type SessionCompletionStatus,
  type SessionEndState,
  sessionCompletionStatusLabels,
} from '@bothost/contract';
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DeployedAgent, secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { sessionEndStateSql, sessionFailedSql } from './end-state.ts';
import { listOrganizationSessions, listSessions } from './list.ts';

const endStates = Object.keys({
  active: true,
  completed: true,
  ended_before_agent_start: true,
  agent_start_timeout: true,
  terminated: true,
  agent_error: true,
  interrupted: true,
} satisfies Record<SessionEndState, true>);
const seconds = (date: Date) => Math.floor(date.getTime() / 1000);
const plain = { limit: 10, offset: 0, status: 'all', startType: 'all', startTimeMin: 0, startTimeMax: 0 } as const;

const rows = await useTestRows();

describe('listSessions', () => {
  let of: DeployedAgent;
  let secondDeployment: string;
  const ids: Record<string, string> = {};

  type Query = Parameters<typeof listSessions>[3];
  const list = (query: Partial<Query> = {}, agent = 'parrot') =>
    listSessions({ db: rows.db }, of, agent, { ...plain, ...query });
  /** Returns the names of the sessions that match a query, in order. */
  const names = async (query: Partial<Query>) => {
    const { sessions } = await list(query);
    return sessions.map(({ sessionId }) => Object.keys(ids).find((name) => ids[name] === sessionId));
  };

  beforeAll(async () => {
    of = await rows.deployedAgent();
    secondDeployment = await rows.deployment(of.agentId);
    const add = async (name: string, fields: Parameters<TestDatabaseRows['session']>[1]) => {
      ids[name] = await rows.session(of, fields);
    };
    const started = (age: number, took: number) => ({
      created_at: secondsAgo(age),
      requested_at: secondsAgo(age),
      bot_started_at: secondsAgo(age - took),
    });
    await add('stopped', {
      ...started(50, 7),
      state: 'ended',
      completion_status: 'SESSION_STOPPED',
      ended_at: secondsAgo(9),
      cold_start: true,
    });
    await add('failed', {
      ...started(40, 3),
      state: 'ended',
      completion_status: '500',
      ended_at: secondsAgo(9),
      cold_start: false,
    });
    await add('done', {
      ...started(30, 0),
      state: 'ended',
      completion_status: 'HTTP_COMPLETED',
      ended_at: secondsAgo(9),
      cold_start: false,
    });
    await add('never', {
      created_at: secondsAgo(20),
      state: 'ended',
      completion_status: 'BOT_START_TIMEOUT',
      ended_at: secondsAgo(9),
    });
    await add('live', { ...started(10, 2), state: 'live', cold_start: true, deployment_id: secondDeployment });
    await add('waiting', { created_at: secondsAgo(5), state: 'waiting', transport: 'websocket' });
  });

  it('returns all sessions, newest first, and their total number', async () => {
    expect(await names({})).toEqual(['waiting', 'live', 'never', 'done', 'failed', 'stopped']);
    expect(await list()).toMatchObject({ total_count: 6, nextCursor: null });
  });

  it.each<[string, () => Partial<Query>, string[]]>([
    ['live sessions', () => ({ status: 'active' }), ['waiting', 'live']],
    ['ended sessions', () => ({ status: 'ended' }), ['never', 'done', 'failed', 'stopped']],
    ['sessions with a cold start', () => ({ startType: 'cold' }), ['live', 'stopped']],
    ['sessions with a warm start', () => ({ startType: 'warm' }), ['done', 'failed']],
    ['sessions of one deployment', () => ({ deploymentId: secondDeployment }), ['live']],
    ['no sessions for an unknown deployment', () => ({ deploymentId: 'none' }), []],
    [
      'sessions created from a given time on',
      () => ({ startTime: seconds(secondsAgo(20)) }),
      ['waiting', 'live', 'never'],
    ],
    ['sessions created up to a given time', () => ({ endTime: seconds(secondsAgo(40)) }), ['failed', 'stopped']],
    [
      'sessions created between two times',
      () => ({ startTime: seconds(secondsAgo(40)), endTime: seconds(secondsAgo(20)) }),
      ['never', 'done', 'failed'],
    ],
    ['sessions with a minimum start duration', () => ({ startTimeMin: 3 }), ['failed', 'stopped']],
    ['sessions with a maximum start duration', () => ({ startTimeMax: 2 }), ['live', 'done']],
    ['sessions with a start duration in a range', () => ({ startTimeMin: 1, startTimeMax: 3 }), ['live', 'failed']],
    ['sessions with a given end state', () => ({ endState: 'agent_error' }), ['failed']],
    ['no sessions for an unknown end state', () => ({ endState: 'exploded' }), []],
    ['sessions that match two filters at once', () => ({ status: 'ended', startType: 'cold' }), ['stopped']],
  ])('returns the sessions that the query selects: %s', async (_, query, expected) => {
    expect(await names(query())).toEqual(expected);
    expect((await list(query())).total_count).toBe(expected.length);
  });

  it('filters by the start duration as it rounds it in the response', async () => {
    const agent = await rows.deployedAgent();
    for (const milliseconds of [0, 1_000, 2_000, 3_000].flatMap((whole) =>
      [-501, -500, -499, -1, 0, 1, 499, 500, 501].map((part) => whole + part),
    )) {
      const bot_started_at = new Date(testNow.getTime() + milliseconds);
      await rows.session(agent, { requested_at: testNow, bot_started_at });
    }
    const listOf = async (query: Partial<Query>) =>
      (await listSessions({ db: rows.db }, agent, 'parrot', { ...plain, limit: 100, ...query })).sessions;
    const all = await listOf({});
    for (const bound of [1, 2, 3, 4]) {
      const select = (isSelected: (seconds: number) => boolean) =>
        all.filter(({ botStartSeconds }) => botStartSeconds !== null && isSelected(botStartSeconds));
      expect(await listOf({ startTimeMin: bound })).toEqual(select((seconds) => seconds >= bound));
      expect(await listOf({ startTimeMax: bound })).toEqual(select((seconds) => seconds <= bound));
    }
  });

  it.each(endStates)('filters by the end state %s', async (endState) => {
    const all = (await list()).sessions.filter((session) => session.endState === endState);
    expect((await list({ endState })).sessions).toEqual(all);
  });

  it('pages by offset and by cursor', async () => {
    const first = await list({ limit: 4 });
    expect(first.sessions).toHaveLength(4);
    expect(first.total_count).toBe(6);
    const byCursor = await list({ limit: 4, cursor: first.nextCursor ?? '' });
    const byOffset = await list({ limit: 4, offset: 4 });
    expect(byCursor.sessions).toEqual(byOffset.sessions);
    expect(byCursor).toMatchObject({ total_count: 6, nextCursor: null });
  });

  const id = '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';
  it.each([
    'x',
    `${id}`,
    `2026 ${id}`,
    `today ${id}`,
    '2026-11-20T12:00:00.000Z',
    `2026-13-40T12:00:00.000Z ${id}`,
    `+275760-09-13T00:00:00.000Z ${id}`,
  ])('rejects an invalid cursor (%s)', async (text) => {
    await expect(list({ cursor: Buffer.from(text).toString('base64url') })).rejects.toMatchObject({
      reason: 'invalid-request',
      issues: [{ path: 'query.cursor' }],
    });
  });

  it('answers 404 for an unknown agent', async () => {
    await expect(list({}, 'nobody')).rejects.toMatchObject({ reason: 'not-found' });
  });

  it('returns the sessions of a deleted agent by its id', async () => {
    const agentId = await rows.agent(of.organizationId, { name: 'old', deleted_at: testNow });
    await expect(list({}, 'old')).rejects.toMatchObject({ reason: 'not-found' });
    expect(await list({}, agentId)).toEqual({ total_count: 0, sessions: [], nextCursor: null });
  });
});

describe('listOrganizationSessions', () => {
  let organizationId: string;
  let deployments: { parrot: string };
  const ids: Record<string, string> = {};

  type Query = Parameters<typeof listOrganizationSessions>[2];
  const list = (query: Partial<Query> = {}) =>
    listOrganizationSessions({ db: rows.db, now: () => testNow }, { organizationId }, { ...plain, ...query });
  const names = async (query: Partial<Query>) =>
    (await list(query)).sessions.map(({ sessionId }) => Object.keys(ids).find((name) => ids[name] === sessionId));

  beforeAll(async () => {
    organizationId = await rows.organization();
    const parrot = await rows.deployedAgent({ organizationId });
    const raven = await rows.deployedAgent({ organizationId, agent: { name: 'raven' } });
    const ended = (completion_status: SessionCompletionStatus, from: number, to: number) =>
      ({ state: 'ended', completion_status, created_at: secondsAgo(from), ended_at: secondsAgo(to) }) as const;
    ids['timeout'] = await rows.session(raven, ended('BOT_START_TIMEOUT', 400, 100));
    deployments = { parrot: parrot.deploymentId };
    ids['crashed'] = await rows.session(parrot, {
      ...ended('HTTP_ERROR', 300.25, 290.25),
      events: JSON.stringify([
        { code: 'BOT_FAILED', at: testNow.toISOString(), detail: { status: 500, exceptionType: 'KeyError' } },
      ]),
    });
    ids['live'] = await rows.session(parrot, { state: 'live', created_at: secondsAgo(60) });
    ids['done'] = await rows.session(raven, {
      ...ended('HTTP_COMPLETED', 50, 20),
      requested_at: secondsAgo(50),
      bot_started_at: secondsAgo(49),
    });
    await rows.session(await rows.deployedAgent(), { state: 'live' });
  });

  it('returns the sessions of all agents of the organization, newest first, with the names of the agents', async () => {
    expect(await names({})).toEqual(['done', 'live', 'crashed', 'timeout']);
    const { sessions, total } = await list();
    expect(sessions.map(({ agentName }) => agentName)).toEqual(['raven', 'parrot', 'parrot', 'raven']);
    expect(total).toEqual({ value: 4, relation: 'eq' });
  });

  it.each<[string, () => Partial<Query>, string[]]>([
    ['of one agent', () => ({ agent: 'parrot' }), ['live', 'crashed']],
    ['of no agent for an unknown name', () => ({ agent: 'nobody' }), []],
    ['with one id', () => ({ sessionId: ids['live'] }), ['live']],
    ['of none for an id that is not a UUID', () => ({ sessionId: 'x' }), []],
    ['of one deployment', () => ({ deploymentId: deployments.parrot }), ['live', 'crashed']],
    ['of none for a deployment that is not a UUID', () => ({ deploymentId: 'x' }), []],
    ['with a completion status', () => ({ completionStatus: 'BOT_START_TIMEOUT' }), ['timeout']],
    ['whose bot raised an exception', () => ({ exceptionType: 'KeyError' }), ['crashed']],
    ['whose bot raised none', () => ({ exceptionType: '', status: 'ended' }), ['done', 'timeout']],
    ['that are active', () => ({ status: 'active' }), ['live']],
    ['that failed', () => ({ status: 'failed' }), ['crashed', 'timeout']],
    ['with one of several end states', () => ({ endState: 'completed,agent_start_timeout' }), ['done', 'timeout']],
    [
      'created up to a fraction of a second',
      () => ({ endTime: secondsAgo(300.25).getTime() / 1000 }),
      ['crashed', 'timeout'],
    ],
    [
      'created from a fraction of a second on',
      () => ({ startTime: secondsAgo(300.24).getTime() / 1000 }),
      ['done', 'live'],
    ],
    ['of at least a duration, active ones until now', () => ({ durationMin: 60 }), ['live', 'timeout']],
    ['of at most a duration', () => ({ durationMax: 30 }), ['done', 'crashed']],
    ['of a range of durations', () => ({ durationMin: 30, durationMax: 60 }), ['done', 'live']],
  ])('returns the sessions that the query selects: sessions %s', async (_, query, expected) => {
    expect(await names(query())).toEqual(expected);
    expect((await list(query())).total.value).toBe(expected.length);
  });

  it('returns the sessions of a deleted agent, which say so, by its id but not by its name', async () => {
    const of = await rows.deployedAgent({ agent: { name: 'old', deleted_at: testNow } });
    const sessionId = await rows.session(of);
    const listOf = async (agent?: string) => {
      const context = { db: rows.db, now: () => testNow };
      return (await listOrganizationSessions(context, of, { ...plain, agent })).sessions;
    };
    for (const agent of [undefined, of.agentId])
      expect(await listOf(agent)).toMatchObject([{ sessionId, agentName: 'old', agentDeleted: true }]);
    expect(await listOf('old')).toEqual([]);
    expect((await list()).sessions.map(({ agentDeleted }) => agentDeleted)).toEqual([false, false, false, false]);
  });

  it('pages by offset and by cursor', async () => {
    const { nextCursor } = await list({ limit: 3 });
    expect(await names({ limit: 3, offset: 3 })).toEqual(['timeout']);
    expect(await names({ limit: 3, cursor: nextCursor ?? '' })).toEqual(['timeout']);
  });

  it('counts at most 100,000 sessions', async () => {
    const { organizationId: many, agentId, deploymentId } = await rows.deployedAgent();
    await sql`insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at, events)
      select gen_random_uuid(), ${many}, ${agentId}, ${deploymentId}, 'starting', 'none', ${testNow}, ${testNow}, '[]'
      from generate_series(1, 100001)`.execute(rows.db);
    const context = { db: rows.db, now: () => testNow };
    const { total } = await listOrganizationSessions(context, { organizationId: many }, plain);
    expect(total).toEqual({ value: 100_000, relation: 'gte' });
  });
});

describe('listSessions by cursor while sessions are added', () => {
  it('returns each earlier session exactly once, in order', async () => {
    const organizationId = await rows.organization();
    const page = fc.record({ limit: fc.integer({ min: 1, max: 4 }), added: fc.array(fc.nat(3), { maxLength: 3 }) });
    // Several sessions have the same creation time, so the id determines their order.
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5), { maxLength: 8 }),
        fc.array(page, { minLength: 1, maxLength: 12 }),
        async (ages, pages) => {
          const of = await rows.deployedAgent({ organizationId, agent: { name: `a${newId()}` } });
          const before = new Set<string>();
          for (const age of ages) before.add(await rows.session(of, { created_at: secondsAgo(age) }));
          const seen: string[] = [];
          let cursor: string | undefined;
          for (let turn = 0; turn === 0 || cursor !== undefined; turn += 1) {
            const { limit, added } = pages[turn % pages.length] ?? { limit: 1, added: [] };
            const query = { ...plain, limit, ...(cursor === undefined ? {} : { cursor }) };
            const found = await listSessions({ db: rows.db }, of, of.agentId, query);
            seen.push(...found.sessions.map(({ sessionId }) => sessionId));
            cursor = found.nextCursor ?? undefined;
            for (const age of added) await rows.session(of, { created_at: secondsAgo(-1 - age) });
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.filter((one) => before.has(one)).length).toBe(before.size);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('sessionEndStateSql', () => {
  it.each([
    ['active', 'live', null, true],
    ['active', 'ending', null, true],
    ['completed', 'ended', 'HTTP_COMPLETED', true],
    ['completed', 'ended', 'WS_CONNECTION_CLOSED', true],
    ['completed', 'ended', 'CALLER_HUNG_UP', true],
    ['completed', 'ended', '5000', true],
    ['agent_error', 'ended', 'HTTP_ERROR', true],
    ['agent_error', 'ended', '500', true],
    ['agent_error', 'ended', '500', false],
    ['interrupted', 'ended', 'SERVICE_INTERRUPTED', true],
    ['interrupted', 'ended', 'SERVICE_INTERRUPTED', false],
    ['ended_before_agent_start', 'ended', 'HTTP_ERROR', false],
    ['ended_before_agent_start', 'ended', 'WS_CONNECTION_CLOSED', false],
    ['agent_start_timeout', 'ended', 'BOT_START_TIMEOUT', false],
    ['agent_start_timeout', 'ended', 'BOT_CONNECTION_TIMEOUT', false],
    ['terminated', 'ended', 'SESSION_STOPPED', false],
    ['terminated', 'ended', 'SESSION_TIME_LIMIT', true],
  ] satisfies [SessionEndState, ...unknown[]][])(
    'returns the end state %s for state %s, completion status %s and bot started %s',
    async (...row) => {
      const [expected, state, status, started] = row;
      const { rows: results } = await sql<{ end_state: SessionEndState }>`
      select ${sql.raw(sessionEndStateSql)} as end_state
      from (select ${state}::text, ${status}::text, ${started ? testNow : null}::timestamptz)
        as sessions (state, completion_status, bot_started_at)`.execute(rows.db);
      expect(results).toEqual([{ end_state: expected }]);
    },
  );
});

describe('sessionFailedSql', () => {
  const statuses = [
    ...Object.keys(sessionCompletionStatusLabels),
    '200',
    '404',
    '500',
    '5000',
    'CALLER_HUNG_UP',
    'http_error',
  ];
  it.each(statuses)('counts completion status %s as a failure exactly if nameSessionEnd does', async (status) => {
    const { rows: results } = await sql<{ failed: boolean }>`
      select ${sql.raw(sessionFailedSql)} as failed from (select ${status}::text) as sessions (completion_status)`.execute(
      rows.db,
    );
    expect(results[0]?.failed).toBe(nameSessionEnd({ completionStatus: status, events: [] })?.isFailure);
  });
});
