import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestDatabaseRows } from '../../test/support/test-rows.ts';
import { isColdStart } from './cold-start.ts';
import { type ReadySession, resumeSession } from './dispatch.ts';
import { clampReportedTime } from './reported-time.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second));

describe('clampReportedTime', () => {
  const clamp = (reported: string | null | undefined) => clampReportedTime(reported, at(10), at(30));

  it('returns the time that the bot reports', () => {
    expect(clamp(at(20).toISOString())).toEqual(at(20));
  });

  it('returns the current time if the bot reports none', () => {
    expect([clamp(undefined), clamp(null)]).toEqual([at(30), at(30)]);
  });

  it('returns the current time if the bot reports a later time', () => {
    expect(clamp(at(40).toISOString())).toEqual(at(30));
  });

  it('returns the start time of the session if the bot reports an earlier time', () => {
    expect(clamp(at(5).toISOString())).toEqual(at(10));
  });
});

describe('isColdStart', () => {
  it.each([
    { ready: at(1), requested: at(2), cold: false },
    { ready: at(2), requested: at(2), cold: false },
    { ready: at(3), requested: at(2), cold: true },
    { ready: null, requested: at(2), cold: true },
  ])('returns $cold for an instance ready at $ready and a request at $requested', ({ ready, requested, cold }) => {
    expect(isColdStart({ ready_at: ready }, requested)).toBe(cold);
  });
});

/**
 * Starts a fake bot with a running session. The bot responds immediately to a status request with `wait=0`, and to any other
 * request when the session ends.
 */
async function botWithSession(): Promise<{ port: number; end: () => void }> {
  const ended = new EventEmitter();
  const end = once(ended, 'end');
  const bot = createServer(async (request, response) => {
    const waits = new URL(request.url ?? '/', 'http://bot').searchParams.get('wait') !== '0';
    if (waits) await end;
    const report = { state: 'ended', status: 500, endedAt: at(20).toISOString() };
    response.end(JSON.stringify(waits ? report : { state: 'running', sessionId: 's' }));
  });
  await new Promise<void>((resolve) => bot.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void bot.close());
  const address = bot.address();
  if (address === null || typeof address === 'string') throw new Error('the bot does not listen');
  return { port: address.port, end: () => void ended.emit('end') };
}

it('resumeSession makes a live session reachable as soon as its bot reports the session', async () => {
  const { db, close } = await createTestDatabaseRows();
  onTestFinished(close);
  const bot = await botWithSession();
  const session: ReadySession = {
    id: '01900000-0000-7000-8000-000000000001',
    instanceId: '01900000-0000-7000-8000-000000000002',
    address: { host: '127.0.0.1', port: bot.port },
    reportsSession: true,
    organizationId: '01900000-0000-7000-8000-000000000003',
    transport: 'none',
    maxSeconds: 3_600,
    conversationLevel: 'timings',
    conversationRedact: [],
    cold: false,
    requestedAt: at(1),
    claimedAt: at(1),
    readyAt: at(1),
    body: null,
    dispatchedAt: null,
    botStartedAt: at(2),
  };
  const happened: unknown[] = [];
  const ownership = createSessionOwnershipRegistry();
  ownership.acquire(session.id);
  await resumeSession(
    {
      db,
      now: () => at(30),
      key: Buffer.alloc(32),
      ownership,
      iceServersOf: () => [],
      createRoomRequest: async ({ body }) => ({ headers: {}, body: body ?? '{}' }),
      recordMeetings: async () => undefined,
      closing: new AbortController().signal,
      acceptDeadline: () => new AbortController().signal,
      isReachable: () => true,
      retryWrite: (write) => write(),
      endSession: async (_, status, endedAt) => void happened.push([status, endedAt]),
      recordBotFailure: async () => undefined,
      replaceInstance: async () => null,
      drainBot: async () => undefined,
      onDispatch: () => undefined,
      watchStart: () => undefined,
      onOpen: () => {
        happened.push('open');
        bot.end();
      },
      onLive: () => void happened.push('live'),
    },
    session,
  );
  expect(happened.at(0)).toBe('open');
  expect(happened.at(-1)).toEqual(['500', at(20)]);
});
