import type { LogLine } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { evaluateJavaScriptInBot, startAgentSession, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import type { TestServer } from '../support/test-server.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useTestServer } from '../support/use-test-server.ts';

type Query = Parameters<TestServer['client']['getLogs']>[0]['query'];

let deleted = '';
const read = (agentName: string, query: Query = {}) => service.client.getLogs({ params: { agentName }, query });
const texts = (logs: readonly LogLine[]) => logs.map(({ log }) => log);
const say = (agent: string, session: string, code: string) =>
  evaluateJavaScriptInBot(service, agent, session, `${code}; null`);

const prelude = 'console.log("boot of " + process.env.BOT_INSTANCE_ID)';
const service = await useTestServer({
  bots: {
    talker: { maxAgents: 10, prelude },
    warm: { minAgents: 1, prelude },
    broken: { alone: true, prelude: 'console.error("no such module"); process.exit(3)' },
  },
  environment: { BOTHOST_LOG_SESSION_MB: '1' },
});

describe('logs', () => {
  it('are the same during a session and after its end', async () => {
    const session = await startAgentSession(service, 'talker');
    await say(
      'talker',
      session,
      'console.log("one"); console.error("zwei ä"); process.stdout.write("three\\r\\nlast")',
    );
    const live = await read('talker', { sessionId: session, order: 'asc', limit: 100 });
    expect(texts(live.logs).slice(1)).toEqual(['one', 'zwei ä', 'three']);
    expect(live.nextCursor).not.toBeNull();
    await stopAgentSession(service, 'talker', session);
    await waitForSessionEnd(service, 'talker', session);
    await expect.poll(async () => (await read('talker', { sessionId: session, order: 'asc' })).nextCursor).toBeNull();
    const after = await read('talker', { sessionId: session, order: 'asc', limit: 100 });
    expect(after.logs.slice(0, 4)).toEqual(live.logs);
    expect(texts(after.logs).slice(4)).toEqual(['last']);
    expect(after.total).toEqual({ value: 5, relation: 'eq' });
    const newest = await read('talker', { sessionId: session, limit: 2 });
    expect(texts(newest.logs)).toEqual(['last', 'three']);
    expect(newest.total).toEqual({ value: 5, relation: 'eq' });
    expect(newest.followCursor).toBeNull();
    const older = await read('talker', { sessionId: session, limit: 10, cursor: newest.nextCursor ?? '' });
    expect(texts(older.logs).slice(0, 2)).toEqual(['zwei ä', 'one']);
    expect(older.nextCursor).toBeNull();
    const times = after.logs.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort());
    expect(times[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
  });

  it('can be followed until the session ends, without lost or duplicate lines', async () => {
    const session = await startAgentSession(service, 'talker');
    await say('talker', session, 'console.log("begin")');
    const first = await read('talker', { sessionId: session });
    expect(texts(first.logs)[0]).toBe('begin');
    let cursor = first.followCursor;
    const seen: string[] = [];
    const following = (async () => {
      while (cursor !== null) {
        const page = await read('talker', { sessionId: session, order: 'asc', cursor, wait: 20, limit: 1_000 });
        seen.push(...texts(page.logs));
        cursor = page.nextCursor;
      }
    })();
    const flood =
      'let i = 0; const t = setInterval(() => { for (let k = 0; k < 50; k++) console.log("line " + i++); if (i >= 2000) { clearInterval(t); process.stdout.write("open end"); state.end(200, "{}"); } }, 5)';
    await say('talker', session, flood);
    await following;
    expect(seen).toEqual([...Array.from({ length: 2_000 }, (_, index) => `line ${index}`), 'open end']);
  });

  it('cover all sessions of an agent in chronological order, across pages', async () => {
    const word = createUniqueName('Merged');
    const sessions = await Promise.all([1, 2, 3].map(() => startAgentSession(service, 'talker')));
    for (let round = 0; round < 5; round++)
      for (const session of sessions) await say('talker', session, `console.log("${word} ${round}")`);
    await stopAgentSession(service, 'talker', sessions[0] ?? '');
    await waitForSessionEnd(service, 'talker', sessions[0] ?? '');
    for (const order of ['asc', 'desc'] as const) {
      const all: LogLine[] = [];
      let cursor: string | null | undefined;
      // On a busy service, a page may be empty although more pages follow. The log of a live session has no last page.
      while (all.length < 15 && cursor !== null) {
        const query = { query: word.toUpperCase(), order, limit: 4, ...(cursor === undefined ? {} : { cursor }) };
        const page = await read('talker', query);
        all.push(...page.logs);
        cursor = page.nextCursor;
      }
      expect(all).toHaveLength(15);
      expect(new Set(all.map(({ sessionId }) => sessionId))).toEqual(new Set(sessions));
      const times = all.map(({ timestamp }) => timestamp);
      expect(times).toEqual(order === 'asc' ? [...times].sort() : [...times].sort().reverse());
      const byOffset = await read('talker', { query: word.toLowerCase(), order, limit: 4, offset: 4 });
      expect(byOffset.logs).toEqual(all.slice(4, 8));
      expect(byOffset.total).toEqual({ value: 15, relation: 'eq' });
    }
    for (const session of sessions.slice(1)) await stopAgentSession(service, 'talker', session);
  });

  it('of all agents are merged by time, and name the agent of each line', async () => {
    const word = createUniqueName('Everybody');
    const sessions = [
      ['talker', await startAgentSession(service, 'talker')],
      ['warm', await startAgentSession(service, 'warm')],
    ] as const;
    const readAll = (query: Query) => service.client.listOrganizationLogs({ query: { query: word, ...query } });
    for (let round = 0; round < 3; round++)
      for (const [agent, sessionId] of sessions) {
        await say(agent, sessionId, `console.log("${word} ${round}")`);
        // Lines have the time at which the service read them.
        await expect.poll(async () => (await readAll({ sessionId })).logs).toHaveLength(round + 1);
      }
    const first = await readAll({ order: 'asc', limit: 4 });
    const second = await readAll({ order: 'asc', limit: 4, cursor: first.nextCursor ?? '' });
    const all = [...first.logs, ...second.logs];
    expect(all.map(({ agentName, sessionId, log }) => [agentName, sessionId, log])).toEqual(
      [0, 1, 2].flatMap((round) => sessions.map(([agent, session]) => [agent, session, `${word} ${round}`])),
    );
    expect((await readAll({ sessionId: sessions[1][1] })).logs).toHaveLength(3);
    for (const [agent, session] of sessions) await stopAgentSession(service, agent, session);
  });

  it('can be filtered by text, level, deployment and time', async () => {
    const session = await startAgentSession(service, 'talker');
    const line = (level: string, text: string) => `2026-11-20 12:00:00.123 | ${level} | bot:run:1 | NONE - ${text}`;
    const lines = [line('DEBUG   ', 'quiet Ähre'), line('WARNING ', 'Careful'), line('ERROR   ', 'bad'), 'Traceback'];
    await say('talker', session, `console.log(${JSON.stringify(lines.join('\n'))})`);
    const find = async (query: Query) => (await read('talker', { sessionId: session, order: 'asc', ...query })).logs;
    expect(texts(await find({ query: 'äHRE' }))).toEqual([lines[0]]);
    expect(texts(await find({ query: 'careful' }))).toEqual([lines[1]]);
    expect(texts(await find({ query: 'nowhere' }))).toEqual([]);
    expect((await find({ level: 'WARNING' })).map(({ level }) => level)).toEqual(['WARNING', 'ERROR']);
    expect(texts(await find({ level: 'error' as 'ERROR' }))).toEqual([lines[2]]);
    const all = await find({});
    const deploymentId = all[0]?.deploymentId ?? '';
    expect(await find({ deploymentId })).toEqual(all);
    expect(await find({ deploymentId: session })).toEqual([]);
    expect(await find({ deploymentId: 'none' })).toEqual([]);
    const boundary = Date.parse(all[1]?.timestamp ?? '') / 1000;
    expect(await find({ startTime: boundary })).toEqual(all.slice(1));
    expect(await find({ startTime: boundary + 3_600 })).toEqual([]);
    expect(await find({ endTime: boundary - 3_600 })).toEqual([]);
    expect(await find({ endTime: boundary + 3_600 })).toEqual(all);
    await stopAgentSession(service, 'talker', session);
  });

  it('are counted over time by level, with the filters of a search', async () => {
    const session = await startAgentSession(service, 'talker');
    const line = (level: string) => `2026-11-20 12:00:00.123 | ${level} | bot:run:1 | NONE - counted`;
    const lines = [line('INFO    '), line('WARNING '), line('ERROR   '), line('CRITICAL')];
    await say('talker', session, `console.log(${JSON.stringify(lines.join('\n'))})`);
    const count = async (query: NonNullable<Parameters<typeof service.client.getLogHistogram>[0]>['query']) => {
      const { intervals, countedFrom } = await service.client.getLogHistogram({
        query: { sessionId: session, ...query },
      });
      const sum = (field: 'lines' | 'warnings' | 'errors') => intervals.reduce((total, one) => total + one[field], 0);
      return [sum('lines'), sum('warnings'), sum('errors'), countedFrom];
    };
    await expect.poll(() => count({ agent: 'talker', query: 'COUNTED' })).toEqual([4, 1, 2, null]);
    expect(await count({ query: 'counted', level: 'ERROR' })).toEqual([2, 0, 2, null]);
    expect(await count({ query: 'counted', endTime: 1 })).toEqual([0, 0, 0, null]);
    expect(await count({ agent: 'warm', query: 'counted' })).toEqual([0, 0, 0, null]);
    await expect(count({ agent: 'nobody' })).rejects.toMatchObject({ reason: 'not-found' });
    await stopAgentSession(service, 'talker', session);
  });

  it('carry the time that the bot wrote, and show a traceback with the level of its entry', async () => {
    const session = await startAgentSession(service, 'talker');
    const code = `
      const at = new Date().toISOString();
      console.error(at.replace('T', ' ').replace('Z', '') + ' | ERROR    | bot:run:1 | NONE - failed [x]');
      console.error('Traceback (most recent call last):\\n  File "bot.py", line 1\\nKeyError: 1\\nprinted');
      return at`;
    const at = String(await evaluateJavaScriptInBot(service, 'talker', session, `(() => {${code}})()`));
    const { logs } = await read('talker', { sessionId: session, order: 'asc', level: 'ERROR' });
    expect(logs.map(({ log, continuesEntry }) => [log.slice(-11), continuesEntry ?? false])).toEqual([
      [' failed [x]', false],
      ['call last):', true],
      ['py", line 1', true],
      ['KeyError: 1', true],
    ]);
    expect(logs[0]).toMatchObject({ timestamp: at.replace('Z', '000000Z'), readAt: expect.any(String) });
    expect(Date.parse(logs[0]?.readAt ?? '')).toBeGreaterThanOrEqual(Date.parse(at));
    const [printed] = (await read('talker', { sessionId: session, query: 'printed' })).logs;
    expect(printed).toMatchObject({ level: null });
    expect(printed).not.toHaveProperty('readAt');
    await stopAgentSession(service, 'talker', session);
  });

  it('mark lines that a warm instance wrote before its session began', async () => {
    const idle = async () => (await service.client.getAgent({ params: { agentName: 'warm' } })).idleInstanceCount;
    await expect.poll(idle).toBe(1);
    const unclaimed = async () => (await read('warm')).logs.filter(({ sessionId }) => sessionId === null);
    await expect.poll(async () => texts(await unclaimed())).toEqual([expect.stringMatching(/^boot of/)]);
    const session = await startAgentSession(service, 'warm');
    await say('warm', session, 'console.log("in session")');
    const { logs } = await read('warm', { sessionId: session, order: 'asc' });
    expect(logs).toMatchObject([
      { beforeSession: true, sessionId: session },
      { log: 'in session', sessionId: session },
    ]);
    expect(logs[1]).not.toHaveProperty('beforeSession');
    await stopAgentSession(service, 'warm', session);
  });

  it('contain the output of instances that failed without a session', async () => {
    await expect.poll(async () => texts((await read('broken')).logs)).toContain('no such module');
    expect((await read('broken')).logs.at(-1)).toMatchObject({ sessionId: null, deploymentId: expect.any(String) });
  });

  it('mark the gap where output beyond the limit was dropped', async () => {
    const session = await startAgentSession(service, 'talker');
    await say(
      'talker',
      session,
      `globalThis.t = setInterval(() => { for (let i = 0; i < 20; i++) console.log('x'.repeat(999)); }, 2)`,
    );
    const gap = async () =>
      (await read('talker', { sessionId: session, order: 'asc', limit: 10_000 })).logs.find(
        ({ droppedBytes }) => droppedBytes !== undefined,
      );
    await expect.poll(gap).toBeDefined();
    await say('talker', session, 'clearInterval(globalThis.t); console.log("the end")');
    expect((await gap())?.log).toMatch(/^\(\d+ bytes of output were dropped here/);
    const { logs } = await read('talker', { sessionId: session, order: 'asc', limit: 10_000 });
    expect(logs[0]?.log).toMatch(/^boot of/);
    expect(logs.at(-1)?.log).toBe('the end');
    const events = async () => {
      const { events } = await service.client.getSession({ params: { agentName: 'talker', sessionId: session } });
      return events.map(({ eventCode }) => eventCode);
    };
    await expect.poll(events).toContain('INSTANCE_OUTPUT_DROPPED');
    await stopAgentSession(service, 'talker', session);
  });

  it('contain arbitrary bytes that a bot writes, and split long lines into several entries', async () => {
    const session = await startAgentSession(service, 'talker');
    await say(
      'talker',
      session,
      `process.stdout.write(Buffer.from([0x61, 0, 0xff, 0x62, 10, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x72, 10]))`,
    );
    await say('talker', session, `console.log('y'.repeat(50000))`);
    const { logs } = await read('talker', { sessionId: session, order: 'asc' });
    expect(texts(logs).slice(1, 3)).toEqual(['a\0\ufffdb', '\u001b[31mr']);
    const long = logs.slice(3);
    expect(texts(long).join('')).toBe('y'.repeat(50_000));
    expect(long.map(({ continued }) => continued ?? false)).toEqual([...long.slice(1).map(() => true), false]);
    await stopAgentSession(service, 'talker', session);
  });

  it('can be read by the id of a deleted agent', async () => {
    const left = (await service.client.listAgents({ query: {} })).agents.find(({ name }) => name === 'broken');
    if (left !== undefined) await service.client.deleteAgent({ params: { agentName: 'broken' } });
    deleted = left?.id ?? deleted;
    await expect(read('broken')).rejects.toMatchObject({ status: 404 });
    expect(texts((await read(deleted)).logs)).toContain('no such module');
  });

  it('are refused with 400 for invalid times, cursors and limits, and with 404 for a missing agent', async () => {
    const path = `${service.url}/v1/agents/talker/logs`;
    const status = async (query: string, key = service.privateKey) =>
      (await fetch(`${path}${query}`, { headers: { authorization: `Bearer ${key}` } })).status;
    for (const query of [
      '?startTime=yesterday',
      '?endTime=-1',
      '?cursor=x',
      '?limit=0',
      '?limit=10001',
      '?wait=26',
      '?order=up',
      '?level=loud',
      '?offset=-1',
    ])
      expect([query, await status(query)]).toEqual([query, 400]);
    expect(await status('?startTime=1700000000.5&endTime=1800000000')).toBe(200);
    expect(await status('', service.publicKey)).toBe(401);
    const asc = await read('talker', { order: 'asc', limit: 1 });
    expect(await status(`?order=desc&cursor=${asc.nextCursor}`)).toBe(400);
    await expect(read('nobody')).rejects.toMatchObject({ status: 404 });
    expect((await read('talker', { sessionId: 'none' })).logs).toEqual([]);
  });
});
