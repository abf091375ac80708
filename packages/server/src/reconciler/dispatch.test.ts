import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import type { InstanceClaim } from '../instances/claim.ts';
import { deriveControlToken } from '../instances/control-token.ts';
import { newId } from '../store/uuid.ts';
import { dispatchSession, type ReadySession, resumeSession, type SessionDispatchContext } from './dispatch.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const key = randomBytes(32);
/** The responses of a bot, by route. */
type Bot = Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>>;
const answer = (status: number, body: object) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status).end(JSON.stringify(body));

let ended: [status: string, at: Date | undefined][];
let failures: unknown[];
let transitions: string[];
/** The instances whose replacement was requested, with the causes. */
let replaced: unknown[];
let drained: (readonly [instanceId: string, limit: Date])[];
/** The claim that a replacement returns. */
let replacement: InstanceClaim | null;
let requests: { url: string; headers: IncomingMessage['headers']; body: string }[];
let closing: AbortController;
let acceptDeadline: AbortController;
let server: Server | null = null;

const rows = await useTestRows();
const of = await rows.deployedAgent();
beforeEach(() => {
  ended = [];
  failures = [];
  transitions = [];
  requests = [];
  replaced = [];
  drained = [];
  replacement = null;
  closing = new AbortController();
  acceptDeadline = new AbortController();
});
afterEach(() => {
  closing.abort();
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function session(bot: Bot, fields: Partial<ReadySession> = {}, state: 'starting' | 'live' = 'starting') {
  server = createServer(async (request, response) => {
    const url = request.url ?? '';
    requests.push({ url, headers: request.headers, body: await text(request) });
    const route = bot[url.split('?')[0] ?? ''];
    if (route === undefined) response.writeHead(404).end();
    else route(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const readySession: ReadySession = {
    id: await rows.session(of, { state, ...(state === 'live' ? { bot_started_at: fields.botStartedAt } : {}) }),
    instanceId: newId(),
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    reportsSession: true,
    organizationId: of.organizationId,
    transport: 'none',
    maxSeconds: 60,
    conversationLevel: 'transcript',
    conversationRedact: ['card'],
    cold: true,
    requestedAt: secondsAgo(4),
    claimedAt: secondsAgo(3),
    readyAt: secondsAgo(2),
    body: '{"caller":"anna"}',
    dispatchedAt: null,
    botStartedAt: null,
    ...fields,
  };
  const ownership = createSessionOwnershipRegistry();
  ownership.acquire(readySession.id);
  const context: SessionDispatchContext = {
    db: rows.db,
    now: () => testNow,
    key,
    ownership,
    iceServersOf: () => [],
    createRoomRequest: async ({ body }) => ({ headers: {}, body: body ?? '{}' }),
    recordMeetings: async () => undefined,
    closing: closing.signal,
    acceptDeadline: () => acceptDeadline.signal,
    isReachable: () => true,
    retryWrite: (write) => write(),
    endSession: async (sessionId, status, at) => {
      ended.push([status, at]);
      ownership.release(sessionId);
    },
    replaceInstance: async ({ instanceId }, cause) => {
      replaced.push([instanceId, cause]);
      return replacement;
    },
    drainBot: async ({ instanceId }, limit) => void drained.push([instanceId, limit]),
    recordBotFailure: async (_, status, exception) => void failures.push([status, exception]),
    onDispatch: () => undefined,
    watchStart: () => undefined,
    onOpen: () => transitions.push('open'),
    onLive: () => transitions.push('live'),
  };
  return { context, readySession };
}
/** Dispatches a session to a bot, until the session has ended or is not owned any more. */
async function dispatchTo(...given: Parameters<typeof session>) {
  const opened = await session(...given);
  await dispatchSession(opened.context, opened.readySession);
  return opened;
}
/** Resumes a session after a restart of the server, like `dispatchTo`. */
async function resumeWith(...given: Parameters<typeof session>) {
  const opened = await session(...given);
  await resumeSession(opened.context, opened.readySession);
  return opened;
}
const stored = (id: string) => rows.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
const statuses = () => ended.map(([status]) => status);
const urls = () => requests.map(({ url }) => url.split('?')[0]);

describe('dispatchSession', () => {
  it('sends headers and body to the bot and records the start time', async () => {
    const { readySession } = await dispatchTo({ '/bot': answer(200, {}) }, { transport: 'webrtc' });
    expect(requests[0]).toMatchObject({
      url: '/bot',
      body: '{"caller":"anna"}',
      headers: {
        'x-session-id': readySession.id,
        'x-daily-session-id': readySession.id,
        'x-transport-type': 'webrtc',
        'x-max-session-seconds': '60',
        'bothost-conversation-level': 'transcript',
        'bothost-conversation-redact': '["card"]',
        'x-bot-control-token': deriveControlToken(key, readySession.instanceId),
      },
    });
    expect(await stored(readySession.id)).toMatchObject({
      state: 'live',
      bot_started_at: testNow,
      ready_at: secondsAgo(2),
      cold_start: true,
      dispatched_at: testNow,
    });
    expect(transitions).toEqual(['open', 'live']);
  });

  it('keeps the time of a dispatch that is recorded already', async () => {
    const { readySession } = await dispatchTo({ '/bot': answer(200, {}) }, { dispatchedAt: secondsAgo(9) });
    expect(await stored(readySession.id)).toMatchObject({ state: 'live', dispatched_at: null });
  });

  it('ends a session whose room cannot be read, without a request to the bot', async () => {
    const { context, readySession } = await session({ '/bot': answer(200, {}) }, { transport: 'daily' });
    await dispatchSession({ ...context, createRoomRequest: async () => null }, readySession);
    expect([statuses(), urls()]).toEqual([['SERVICE_INTERRUPTED'], []]);
  });

  const refused = { socket: '/missing/bot.sock' };

  it('sends a session whose bot refuses the connection to another instance, once', async () => {
    const { context, readySession } = await session({ '/bot': answer(200, {}) });
    const { address, instanceId: other } = { ...readySession, instanceId: newId() };
    replacement = { instanceId: other, address, readyAt: secondsAgo(1), reportsSession: false, notices: [] };
    await dispatchSession(context, { ...readySession, address: refused });
    expect(replaced).toEqual([
      [readySession.instanceId, expect.stringMatching(/^The bot could not be reached: connect ENOENT/)],
    ]);
    expect(requests.filter(({ url }) => url === '/bot')).toMatchObject([
      { headers: { 'x-bot-control-token': deriveControlToken(key, other) } },
    ]);
    expect(statuses()).toEqual(['HTTP_COMPLETED']);
  });

  it('releases the session if the other instance is not ready yet, and ends it if there is none', async () => {
    const { context, readySession } = await session({});
    replacement = { instanceId: newId(), address: null, readyAt: null, reportsSession: false, notices: [] };
    await dispatchSession(context, { ...readySession, address: refused });
    expect([context.ownership.has(readySession.id), statuses()]).toEqual([false, []]);
    replacement = null;
    await dispatchSession(context, { ...readySession, address: refused });
    expect(statuses()).toEqual(['HTTP_ERROR']);
  });

  it('does not send a session to another instance if the bot accepted the connection and closed it', async () => {
    await dispatchTo({ '/bot': (request) => request.socket.destroy() });
    expect([replaced, statuses()]).toEqual([[], ['HTTP_ERROR']]);
  });

  it('records a session as live once the bot reports that it has the session', async () => {
    let end: () => void = () => undefined;
    const states: unknown[] = [];
    const bot: Bot = {
      '/bot': (_, response) => {
        end = () => response.end('{}');
      },
      '/_bot/session': async (_, response) => {
        states.push((await stored(readySession.id))?.state);
        response.end(JSON.stringify({ state: states.length < 3 ? 'idle' : 'running' }));
      },
    };
    const { context, readySession } = await session(bot);
    const running = dispatchSession(context, readySession);
    await expect.poll(async () => (await stored(readySession.id))?.state).toBe('live');
    end();
    await running;
    expect(states).toEqual(['starting', 'starting', 'starting']);
    expect(transitions).toEqual(['open', 'live']);
    expect(statuses()).toEqual(['HTTP_COMPLETED']);
  });

  it('records a session as live once a bot without a status route responds to the status request with 404', async () => {
    let end: () => void = () => undefined;
    const bot: Bot = {
      '/bot': (_, response) => {
        end = () => response.end('{}');
      },
    };
    const { context, readySession } = await session(bot, { reportsSession: false });
    const running = dispatchSession(context, readySession);
    await expect.poll(async () => (await stored(readySession.id))?.state).toBe('live');
    expect(urls()).toContain('/_bot/session');
    end();
    await running;
  });

  it('ends the session with BOT_START_TIMEOUT if the bot does not accept the session in time', async () => {
    const bot: Bot = { '/bot': () => undefined, '/_bot/session': () => acceptDeadline.abort() };
    const { readySession } = await dispatchTo(bot);
    expect(statuses()).toEqual(['BOT_START_TIMEOUT']);
    expect(await stored(readySession.id)).toMatchObject({ state: 'starting', bot_started_at: null });
  });

  it.each([409, 401, 503])('records no start time if the bot rejects the session with status %i', async (status) => {
    const { readySession } = await dispatchTo({ '/bot': answer(status, {}), '/_bot/session': () => undefined });
    expect(statuses()).toEqual([`${status}`]);
    expect(await stored(readySession.id)).toMatchObject({ bot_started_at: null });
  });

  it.each<[string, Bot[string], string]>([
    ['200', answer(200, {}), 'HTTP_COMPLETED'],
    ['500', answer(500, {}), '500'],
    ['its own completion status', answer(200, { completionStatus: 'CALLER_HUNG_UP' }), 'CALLER_HUNG_UP'],
    ['a forged completion status', answer(500, { completionStatus: 'HTTP_COMPLETED' }), '500'],
    ['the completion status of a stop', answer(200, { completionStatus: 'SESSION_STOPPED' }), 'HTTP_COMPLETED'],
    ['a lost connection', (request) => request.socket.destroy(), 'HTTP_ERROR'],
  ])("derives the session's status from the bot's response: %s", async (_, bot, status) => {
    await dispatchTo({ '/bot': bot });
    expect(statuses()).toEqual([status]);
  });

  it('asks a bot that failed for its exception, and records it before the end of the session', async () => {
    const exception = { type: 'ValueError', message: 'no seeds' };
    let report = {};
    const bot: Bot = { '/bot': answer(500, {}), '/_bot/session': (...exchange) => answer(200, report)(...exchange) };
    const { context, readySession } = await session(bot);
    report = { state: 'ended', sessionId: readySession.id, exception };
    await dispatchSession(context, readySession);
    expect(failures).toEqual([['500', exception]]);
  });

  it('does not end the session with BOT_START_TIMEOUT if the deadline passes after the bot has responded', async () => {
    const events = new EventEmitter();
    const bot: Bot = {
      '/bot': (request, response) => void events.once('status request', () => answer(503, {})(request, response)),
      // `dispatchSession` aborts this status request when the bot responds to `POST /bot`. The abort causes the close event.
      '/_bot/session': async (_, response) => {
        response.once('close', () => events.emit('responded'));
        await expect.poll(urls).toContain('/bot');
        events.emit('status request');
      },
    };
    const { context, readySession } = await session(bot);
    const retryWrite: SessionDispatchContext['retryWrite'] = async (write) => {
      // Simulate a database that is unreachable until the bot has responded.
      if (!acceptDeadline.signal.aborted) await once(events, 'responded');
      acceptDeadline.abort();
      return write();
    };
    await dispatchSession({ ...context, retryWrite }, readySession);
    expect(statuses()).toEqual(['503']);
  });

  it('ends the session with SESSION_TIME_LIMIT if the bot completes the session at its time limit', async () => {
    await dispatchTo({ '/bot': answer(200, {}) }, { maxSeconds: 0 });
    expect(statuses()).toEqual(['SESSION_TIME_LIMIT']);
  });

  it('ends the session with HTTP_ERROR and without a start time if the bot does not listen', async () => {
    const { context, readySession } = await session({});
    server?.close();
    await dispatchSession(context, readySession);
    expect(statuses()).toEqual(['HTTP_ERROR']);
    expect(await stored(readySession.id)).toMatchObject({ state: 'starting', bot_started_at: null });
  });

  it('stores the dispatch time before the request is sent to a bot without a status route', async () => {
    let before: unknown;
    const { context, readySession } = await session(
      {
        '/bot': async (_, response) => {
          before = (await stored(readySession.id))?.dispatched_at;
          response.end('{}');
        },
      },
      { reportsSession: false },
    );
    await dispatchSession(context, readySession);
    expect(before).toEqual(testNow);
  });

  it('is aborted when the session is stopped', async () => {
    const { context, readySession } = await session({ '/bot': () => context.ownership.abort(readySession.id) });
    await dispatchSession(context, readySession);
    expect(statuses()).toEqual(['HTTP_ERROR']);
  });

  it.each([true, false])(
    'sends and records no dispatch if the service is already closing (bot has a status route: %s)',
    async (reportsSession) => {
      const { context, readySession } = await session({ '/bot': () => undefined }, { reportsSession });
      closing.abort();
      await dispatchSession(context, readySession);
      expect(requests).toEqual([]);
      expect(await stored(readySession.id)).toMatchObject({ state: 'starting', dispatched_at: null });
    },
  );

  it.each(['recorded', 'sent'])(
    'still sends a session to a bot without a status route if the service closes while the dispatch is being %s',
    async (moment) => {
      const { context, readySession } = await session({ '/bot': () => undefined }, { reportsSession: false });
      await dispatchSession(
        {
          ...context,
          retryWrite: async (write) => {
            const result = await write();
            if (moment === 'recorded') closing.abort();
            return result;
          },
          // Called just after the request to the bot was created, before its connection is open.
          acceptDeadline: () => {
            closing.abort();
            return acceptDeadline.signal;
          },
        },
        readySession,
      );
      await expect
        .poll(() => requests)
        .toContainEqual(expect.objectContaining({ url: '/bot', body: '{"caller":"anna"}' }));
      expect(statuses()).toEqual([]);
      expect(await stored(readySession.id)).toMatchObject({ completion_status: null, dispatched_at: testNow });
    },
  );

  it('leaves the session running when the service closes', async () => {
    const { readySession } = await dispatchTo({ '/bot': () => closing.abort() });
    expect(statuses()).toEqual([]);
    expect(await stored(readySession.id)).toMatchObject({ completion_status: null, dispatched_at: testNow });
  });
});

describe('a session adopted after a server restart', () => {
  it('is dispatched to its bot if the bot reports that it has no session', async () => {
    const { readySession } = await resumeWith({
      '/_bot/session': answer(200, { state: 'idle' }),
      '/bot': answer(200, {}),
    });
    expect(urls().slice(0, 2)).toEqual(['/_bot/session', '/bot']);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${deriveControlToken(key, readySession.instanceId)}`);
    expect(statuses()).toEqual(['HTTP_COMPLETED']);
  });

  it('is not dispatched twice, and takes the start time from the bot', async () => {
    const startedAt = secondsAgo(1).toISOString();
    const { readySession } = await resumeWith({
      '/_bot/session': answer(200, { state: 'ended', status: 200, startedAt, endedAt: testNow.toISOString() }),
      '/bot': answer(500, {}),
    });
    expect(urls()).toEqual(['/_bot/session']);
    expect(ended).toEqual([['HTTP_COMPLETED', testNow]]);
    expect(await stored(readySession.id)).toMatchObject({ state: 'live', bot_started_at: secondsAgo(1) });
  });

  it('takes its end time and status from the bot if the session ended during the restart', async () => {
    const report = {
      state: 'ended',
      status: 500,
      completionStatus: 'OUT_OF_CREDIT',
      endedAt: secondsAgo(5).toISOString(),
    };
    const fields = { botStartedAt: secondsAgo(30), maxSeconds: 60 };
    await resumeWith({ '/_bot/session': answer(200, report) }, fields, 'live');
    expect(ended).toEqual([['OUT_OF_CREDIT', secondsAgo(5)]]);
    expect(transitions).toEqual(['open']);
  });

  it('ends with SESSION_TIME_LIMIT if it reached its time limit during the restart', async () => {
    const report = { state: 'ended', status: 200, endedAt: secondsAgo(5).toISOString() };
    const fields = { botStartedAt: secondsAgo(70), maxSeconds: 60 };
    await resumeWith({ '/_bot/session': answer(200, report) }, fields, 'live');
    expect(statuses()).toEqual(['SESSION_TIME_LIMIT']);
  });

  it('is polled for its state until it ends', async () => {
    const { context, readySession } = await session(
      {
        '/_bot/session': (request, response) => {
          const state = request.url?.endsWith('wait=0') ? 'running' : 'ended';
          response.end(JSON.stringify({ state, status: 200 }));
        },
      },
      { botStartedAt: secondsAgo(10) },
      'live',
    );
    await resumeSession(context, readySession);
    expect(requests.map(({ url }) => url)).toEqual(['/_bot/session?wait=0', '/_bot/session?wait=25']);
    expect(statuses()).toEqual(['HTTP_COMPLETED']);
  });

  it("is not dispatched again if the previous server's dispatch reaches the bot only after the first status request", async () => {
    const reports = [{ state: 'idle' }, { state: 'running' }, { state: 'ended', status: 200 }];
    const bot: Bot = { '/_bot/session': (_, response) => void response.end(JSON.stringify(reports.shift())) };
    await resumeWith(bot, { dispatchedAt: secondsAgo(9) });
    expect(urls()).not.toContain('/bot');
    expect(statuses()).toEqual(['HTTP_COMPLETED']);
  });

  it('ends with BOT_START_TIMEOUT if the bot does not report in time whether it has the session', async () => {
    const bot: Bot = { '/_bot/session': () => acceptDeadline.abort() };
    await resumeWith(bot, { dispatchedAt: secondsAgo(9) });
    expect(statuses()).toEqual(['BOT_START_TIMEOUT']);
  });

  it.each([true, false])(
    'ends with BOT_START_TIMEOUT if its bot does not have it and its client no longer waits (status route: %s)',
    async (reportsSession) => {
      const bot: Bot = { '/_bot/session': answer(200, { state: 'idle' }), '/bot': answer(200, {}) };
      await resumeWith(bot, { reportsSession, requestedAt: secondsAgo(300) });
      expect(urls()).not.toContain('/bot');
      expect(statuses()).toEqual(['BOT_START_TIMEOUT']);
    },
  );

  it('is not ended at once if its bot no longer has a status route', async () => {
    await resumeWith({ '/bot': answer(200, {}) });
    expect(urls()).toEqual(['/_bot/session']);
    expect(statuses()).toEqual([]);
  });

  it('is not ended if its ownership is released while the bot is unreachable', async () => {
    const { context, readySession } = await session({ '/_bot/session': (request) => request.socket.destroy() });
    const resuming = resumeSession(context, readySession);
    await once(server ?? process, 'request');
    context.ownership.release(readySession.id);
    await resuming;
    expect(statuses()).toEqual([]);
  });

  it('is not ended if the service shuts down during a status request to the bot', async () => {
    await resumeWith({ '/_bot/session': () => closing.abort() });
    expect(statuses()).toEqual([]);
  });

  describe('if the bot answered no status request at its start', () => {
    const silent = { reportsSession: false } as const;

    it('is dispatched to the bot if no earlier dispatch is recorded', async () => {
      await resumeWith({ '/bot': answer(200, {}) }, silent);
      expect(urls()[0]).toBe('/bot');
      expect(statuses()).toEqual(['HTTP_COMPLETED']);
    });

    it('becomes live without a second dispatch to the bot if an earlier dispatch is recorded', async () => {
      const { readySession } = await resumeWith(
        { '/bot': answer(200, {}) },
        { ...silent, readyAt: secondsAgo(10), dispatchedAt: secondsAgo(9) },
      );
      expect(urls()).toEqual(['/_bot/session']);
      expect(await stored(readySession.id)).toMatchObject({ state: 'live', bot_started_at: secondsAgo(9) });
      expect(drained).toEqual([[readySession.instanceId, secondsAgo(9 - readySession.maxSeconds)]]);
    });

    it('is dispatched to the bot again if the bot now reports that it has no session', async () => {
      const idle = { '/_bot/session': answer(200, { state: 'idle' }), '/bot': answer(200, {}) };
      await resumeWith(idle, { ...silent, dispatchedAt: secondsAgo(9), botStartedAt: secondsAgo(9) }, 'live');
      expect(urls().slice(0, 3)).toEqual(['/_bot/session', '/_bot/session', '/bot']);
      expect(statuses()).toEqual(['HTTP_COMPLETED']);
      expect(drained).toEqual([]);
    });

    it('stays live if it was live before the restart', async () => {
      const { readySession } = await resumeWith({}, { ...silent, botStartedAt: secondsAgo(9) }, 'live');
      expect(urls()).toEqual(['/_bot/session']);
      expect(transitions).toEqual(['open']);
      expect(drained).toEqual([[readySession.instanceId, secondsAgo(9 - readySession.maxSeconds)]]);
      expect(await stored(readySession.id)).toMatchObject({ state: 'live', bot_started_at: secondsAgo(9) });
    });
  });
});
