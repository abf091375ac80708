import { BotReportedStatus, operations } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createUniqueName } from '../../test/support/unique-name.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { insertSamples } from '../metrics/rows.ts';
import type { Sample } from '../metrics/series.ts';
import type { StoredSessionEvent } from '../store/tables.ts';
import { newId } from '../store/uuid.ts';
import { finishSession } from './finish.ts';
import { getSession } from './get.ts';

const notFound = expect.objectContaining({ name: 'ApiError', reason: 'not-found', status: 404 });
const twelve = [
  'sessionId',
  'serviceId',
  'organizationId',
  'deploymentId',
  'endedAt',
  'botStartSeconds',
  'coldStart',
  'completionStatus',
  'createdAt',
  'updatedAt',
  'resourceMetrics',
  'meetingIds',
];

const rows = await useTestRows();
const of = await rows.deployedAgent();
const { organizationId } = of;
const context = () => ({ db: rows.db, readEventText: async () => null });

describe('getSession', () => {
  const get = (sessionId: string, agent = 'parrot') => getSession(context(), { organizationId }, agent, sessionId);
  const add = (fields: Parameters<TestDatabaseRows['session']>[1] = {}) => rows.session(of, fields);

  it('omits exception messages and the last output for a viewer only', async () => {
    const at = testNow.toISOString();
    const failed = { status: 500, exceptionType: 'ValueError', exceptionMessage: 'hello', tail: 'hello' };
    const exited = { code: 1, signal: null, outOfMemory: false, tail: 'hello' };
    const stored = [
      { code: 'BOT_FAILED', at, detail: failed },
      { code: 'INSTANCE_EXITED', at, detail: exited },
    ];
    const id = await add({ events: JSON.stringify(stored) });
    expect(JSON.stringify(await get(id))).toContain('hello');
    const seen = await getSession(context(), { organizationId, grantee: 'viewer' }, 'parrot', id);
    expect(JSON.stringify(seen)).not.toContain('hello');
    expect(seen.events).toMatchObject([{ detail: { exceptionType: 'ValueError' } }, { detail: { code: 1 } }]);
  });

  const states = [
    ['waiting', { state: 'waiting', transport: 'websocket' }],
    ['starting', { state: 'starting', requested_at: secondsAgo(1), claimed_at: secondsAgo(1) }],
    [
      'live',
      {
        state: 'live',
        requested_at: secondsAgo(9),
        claimed_at: secondsAgo(8),
        bot_started_at: secondsAgo(5),
        cold_start: true,
      },
    ],
    ['ending', { state: 'ending', ending_status: 'SESSION_STOPPED' }],
    ['ended', { state: 'ended', completion_status: 'HTTP_ERROR', ended_at: secondsAgo(1) }],
  ] as const;

  it.each(states)('returns all twelve fields of a session that is %s', async (_, fields) => {
    const session = await get(await add(fields));
    expect(Object.keys(session)).toEqual(expect.arrayContaining(twelve));
    expect(operations.getSession.response.parse(session)).toEqual(session);
    expect(session.meetingIds).toEqual([]);
  });

  it('returns null for start, end and metrics until the bot has started', async () => {
    const session = await get(await add({ requested_at: secondsAgo(3), claimed_at: secondsAgo(3), cold_start: null }));
    expect(session).toMatchObject({
      endedAt: null,
      botStartSeconds: null,
      coldStart: null,
      completionStatus: null,
      resourceMetrics: null,
      startPhases: null,
      endState: 'active',
    });
  });

  it('returns the duration of the start and of its phases in seconds', async () => {
    const id = await add({
      state: 'live',
      created_at: secondsAgo(10),
      requested_at: secondsAgo(10),
      claimed_at: secondsAgo(9.9),
      ready_at: secondsAgo(7),
      bot_started_at: secondsAgo(6.6),
      bot_called_at: secondsAgo(6.5),
      transport_connected_at: secondsAgo(2.5),
      first_frame_at: secondsAgo(0.1),
      cold_start: true,
    });
    expect(await get(id)).toMatchObject({
      botStartSeconds: 3,
      botStartMilliseconds: 3_400,
      coldStart: true,
      startPhases: {
        claim: 100,
        boot: 2900,
        dispatch: 400,
        botCalled: 3_500,
        transportConnected: 7_500,
        firstFrame: 9_900,
      },
    });
  });

  it('returns no boot phase for a warm start', async () => {
    const times = {
      requested_at: secondsAgo(10),
      claimed_at: secondsAgo(9.9),
      ready_at: secondsAgo(900),
      bot_started_at: secondsAgo(9.8),
    };
    expect(await get(await add({ state: 'live', cold_start: false, ...times }))).toMatchObject({
      botStartSeconds: 0,
      botStartMilliseconds: 200,
      coldStart: false,
      startPhases: { claim: 100, boot: 0, dispatch: 100, botCalled: null, transportConnected: null, firstFrame: null },
    });
  });

  it('returns no start duration for a session that ended before its bot started', async () => {
    const id = await add({
      state: 'ended',
      completion_status: 'BOT_START_TIMEOUT',
      ended_at: testNow,
      requested_at: secondsAgo(120),
    });
    expect(await get(id)).toMatchObject({ botStartSeconds: null, coldStart: null, endState: 'agent_start_timeout' });
  });

  it('returns the same metrics during a session and after it', async () => {
    const id = await add({ state: 'live', bot_started_at: secondsAgo(10) });
    const start = Math.floor(secondsAgo(10).getTime() / 1000);
    const samples = Array.from({ length: 7 }, (_, n): Sample => [start + n, 100 * (n + 1), 1_000 * (n + 1)]);
    await insertSamples(rows.db, [
      { sessionId: id, samples: samples.slice(0, 5) },
      { sessionId: id, samples: samples.slice(5) },
    ]);
    const live = (await get(id)).resourceMetrics;
    expect(live).toMatchObject({
      sessionId: id,
      sampleCount: 7,
      cpuMillicoresP50: 400,
      cpuMillicoresP99: 700,
      memoryBytesP50: 4_000,
      memoryBytesP95: 7_000,
      timeseries: [
        { t: start, c: 300, m: 5_000 },
        { t: start + 5, c: 650, m: 7_000 },
      ],
      eventTs: new Date((start + 6) * 1000).toISOString(),
      createdAt: new Date(start * 1000).toISOString(),
    });
    expect((await get(id)).resourceMetrics).toEqual(live);

    await finishSession(context(), id, 'HTTP_COMPLETED', testNow, []);
    expect((await get(id)).resourceMetrics).toEqual(live);
  });

  it("returns the cause of the session's end and its events", async () => {
    const at = testNow.toISOString();
    const detail = { code: 137, signal: null, outOfMemory: true };
    const stored: StoredSessionEvent = { code: 'INSTANCE_EXITED', at, detail };
    const id = await add({ state: 'live', bot_started_at: secondsAgo(5), events: JSON.stringify([stored]) });
    await finishSession(context(), id, 'HTTP_ERROR', testNow, []);
    expect(await get(id)).toMatchObject({
      endedAt: at,
      completionStatus: 'HTTP_ERROR',
      endState: 'agent_error',
      events: [{ eventCode: 'INSTANCE_EXITED', eventTs: at, detail }],
    });
  });

  it('accepts a session id in either case and returns it in lower case', async () => {
    const id = await add();
    expect((await get(id.toUpperCase())).sessionId).toBe(id);
  });

  it.each(['', 'x', '123', '0192f0c4-7d2a-7c11-8a53', '%00', "'; drop table sessions; --"])(
    'answers 404 for an id that is not a UUID (%j)',
    async (id) => {
      await expect(get(id)).rejects.toEqual(notFound);
    },
  );

  it('answers 404 for a missing session, and for one of another agent or organization', async () => {
    const mine = await add();
    const their = await rows.deployedAgent();
    const theirs = await rows.session(their);
    const name = createUniqueName('second');
    await rows.deployedAgent({ organizationId, agent: { name } });
    const errors = await Promise.all(
      [get(newId()), get(theirs), get(theirs, their.agentId), get(mine, name), get(mine, 'nobody')].map((asked) =>
        asked.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );
    for (const error of errors) expect(error).toEqual(errors[0]);
    expect(errors[0]).toEqual(notFound);
  });

  it("finds sessions of a deleted agent by the agent's id but not by its name", async () => {
    const ofOld = await rows.deployedAgent({ organizationId, agent: { name: 'old' } });
    const session = await rows.session(ofOld);
    const old = ofOld.agentId;
    await rows.update('agents', old, { deleted_at: testNow });
    await expect(get(session, 'old')).rejects.toEqual(notFound);
    expect((await get(session, old)).serviceId).toBe(old);
    expect((await get(session, old.toUpperCase())).serviceId).toBe(old);
  });
});

describe('finishSession', () => {
  it('ends a session once when called concurrently', async () => {
    const id = await rows.session(of, { state: 'live' });
    const ends = await Promise.all(
      (['HTTP_COMPLETED', 'HTTP_ERROR', '500', BotReportedStatus.parse('DONE')] as const).map((status) =>
        finishSession(context(), id, status, testNow, []),
      ),
    );
    const [first, ...others] = ends.filter((row) => row !== undefined);
    expect(others).toEqual([]);
    expect((await getSession(context(), of, 'parrot', id)).completionStatus).toBe(first?.completion_status);
  });

  it('keeps the cause of the end if one was recorded earlier', async () => {
    const id = await rows.session(of, { state: 'ending', ending_status: 'SESSION_TIME_LIMIT' });
    expect((await finishSession(context(), id, 'HTTP_COMPLETED', testNow, []))?.completion_status).toBe(
      'SESSION_TIME_LIMIT',
    );
  });

  it('records no end time before the start time', async () => {
    const id = await rows.session(of, { state: 'live' });
    expect((await finishSession(context(), id, 'WS_CONNECTION_CLOSED', secondsAgo(60), []))?.ended_at).toEqual(testNow);
  });

  it('removes the request body of the session, and counts a repeated resource sample only once', async () => {
    const id = await rows.session(of, { state: 'live', body: '{"a":1}' });
    await insertSamples(rows.db, [
      {
        sessionId: id,
        samples: [
          [1, 10, 10],
          [2, 20, 20],
        ],
      },
    ]);
    await finishSession(context(), id, 'HTTP_COMPLETED', testNow, [
      [2, 20, 20],
      [3, 30, 30],
    ]);
    expect((await getSession(context(), of, 'parrot', id)).resourceMetrics).toMatchObject({
      sampleCount: 3,
      cpuMillicoresP99: 30,
    });
    const kept = await rows.db.selectFrom('sessions').select('body').where('id', '=', id).executeTakeFirst();
    expect(kept).toEqual({ body: null });
    expect(await rows.db.selectFrom('session_samples').selectAll().where('session_id', '=', id).execute()).toEqual([]);
  });

  it('records no metrics without samples, and shows whether the region reads any', async () => {
    const id = await rows.session(of, { state: 'starting' });
    await finishSession(context(), id, 'HTTP_ERROR', testNow, []);
    expect(await getSession(context(), of, 'parrot', id)).toMatchObject({ resourceMetrics: null, readsUsage: true });
    await rows.db.updateTable('hosts').set({ reads_usage: false }).execute();
    expect(await getSession(context(), of, 'parrot', id)).toMatchObject({ resourceMetrics: null, readsUsage: false });
  });
});
