import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestDatabaseRows, secondsAgo, testNow } from '../../test/support/test-rows.ts';
import type { SessionTransport } from '../store/tables.ts';
import type { BotSessionState } from './bot-http.ts';
import { readStartMoments } from './start-moments.ts';
import { watchStart } from './watch-start.ts';

const iso = (seconds: number) => secondsAgo(seconds).toISOString();
const pending = { state: 'running', botCalledAt: null, transportConnectedAt: null, firstFrameAt: null } as const;

/** Starts a fake bot that responds to each status request with the next report, and to further ones with the last. */
async function startBot(reports: readonly object[]) {
  let requests = 0;
  const bot = createServer((_, response) => {
    response.end(JSON.stringify(reports[Math.min(requests, reports.length - 1)]));
    requests += 1;
  });
  await new Promise<void>((resolve) => bot.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void bot.close());
  const address = bot.address();
  if (address === null || typeof address === 'string') throw new Error('the bot does not listen');
  return { address: { host: '127.0.0.1', port: address.port }, requests: () => requests };
}

async function watch(transport: SessionTransport, reports: readonly object[], isReachable = true) {
  const rows = await createTestDatabaseRows();
  onTestFinished(() => rows.close());
  const id = await rows.session(await rows.deployedAgent());
  const { address, requests } = await startBot(reports);
  const context = {
    db: rows.db,
    now: () => testNow,
    key: Buffer.alloc(32),
    retryWrite: <T>(write: () => Promise<T>) => write(),
    closing: new AbortController().signal,
    isReachable: () => isReachable,
  };
  await watchStart(context, { id, instanceId: 'i', address, transport, requestedAt: secondsAgo(10) });
  const columns = ['bot_called_at', 'transport_connected_at', 'first_frame_at'] as const;
  const row = await rows.find('sessions', id);
  return { requests: requests(), recorded: columns.map((column) => row[column]) };
}

describe('watchStart', () => {
  it('asks a WebRTC bot until it has reported all moments, and records them', async () => {
    const called = { ...pending, botCalledAt: iso(9), transportConnectedAt: iso(8) };
    const complete = { ...called, firstFrameAt: iso(2) };
    expect(await watch('webrtc', [pending, called, complete])).toEqual({
      requests: 3,
      recorded: [secondsAgo(9), secondsAgo(8), secondsAgo(2)],
    });
  });

  it('records what is known when the session ends', async () => {
    const ended = { ...pending, state: 'ended', status: 500, botCalledAt: iso(9) };
    expect(await watch('webrtc', [pending, ended])).toEqual({ requests: 2, recorded: [secondsAgo(9), null, null] });
  });

  it('takes only the call of bot() from the bot of a WebSocket, because the relay knows the other moments', async () => {
    const report = { ...pending, botCalledAt: iso(9), transportConnectedAt: iso(8), firstFrameAt: iso(2) };
    expect(await watch('websocket', [report])).toEqual({ requests: 1, recorded: [secondsAgo(9), null, null] });
  });

  it('asks a bot that reports no moments only once', async () => {
    expect(await watch('webrtc', [{ state: 'running' }])).toEqual({ requests: 1, recorded: [null, null, null] });
  });

  it('does not ask a bot that has exited, because another bot may have its address', async () => {
    expect(await watch('none', [pending], false)).toEqual({ requests: 0, recorded: [null, null, null] });
  });
});

describe('readStartMoments', () => {
  const read = (transport: SessionTransport, report: BotSessionState | null) =>
    readStartMoments(report, { transport, requestedAt: secondsAgo(10) }, testNow);

  it('clamps times that a bot reports to the time from the request to now', () => {
    const report = { ...pending, botCalledAt: iso(99), transportConnectedAt: iso(-99), firstFrameAt: iso(1) };
    expect(read('webrtc', report)).toEqual({
      moments: { botCalledAt: secondsAgo(10), transportConnectedAt: testNow, firstFrameAt: secondsAgo(1) },
      isComplete: true,
    });
  });

  it.each<[string, SessionTransport, BotSessionState | null, boolean]>([
    ['without a status route', 'webrtc', null, true],
    ['without moments', 'webrtc', { state: 'running' }, true],
    ['that has not called bot()', 'none', pending, false],
    ['that has called bot() without a transport', 'none', { ...pending, botCalledAt: iso(1) }, true],
    ['that waits for its WebRTC client', 'webrtc', pending, false],
    ['that has not sent a frame', 'webrtc', { ...pending, botCalledAt: iso(1), transportConnectedAt: iso(1) }, false],
    ['whose session has ended', 'webrtc', { ...pending, state: 'ended' }, true],
  ])('decides whether the report of a bot %s is complete', (_, transport, report, isComplete) => {
    expect(read(transport, report).isComplete).toBe(isComplete);
  });
});
