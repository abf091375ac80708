import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evaluateJavaScriptInBot, stopAgentSession, waitForSessionEnd } from '../../test/support/client.ts';
import { useTestServer } from '../../test/support/use-test-server.ts';

const service = await useTestServer({
  bots: { default: {}, open: { websocketAuth: 'none' }, strict: { websocketStart: 'minimal' } },
  environment: { BOTHOST_PUBLIC_URL: 'https://bots.example.com/' },
});

async function startSession(body: unknown, query = '', agentName = 'default') {
  const response = await fetch(`${service.url}/v1/public/${agentName}/start${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
/**
 * Occupies all threads of the thread pool of Node.js by opening a FIFO for reading, which blocks until it has a writer. Returns a
 * function that frees the threads.
 */
async function occupyThreadPool(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-threads-'));
  const fifo = join(directory, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // More than the default size of the pool (UV_THREADPOOL_SIZE), 4 threads.
  const opened = Array.from({ length: 8 }, () => open(fifo, 'r'));
  let released: Promise<void> | undefined;
  const release = async () => {
    const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    for (const file of await Promise.all(opened)) await file.close();
    closeSync(writer);
    await rm(directory, { recursive: true });
  };
  return () => (released ??= release());
}
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('startSession', () => {
  it.each([
    ['without a body', undefined],
    ['with an empty body', null],
    ['with an empty request', {}],
    ['with null for the bot', { body: null }],
    ['with the fields that existing clients send', { createDailyRoom: false, dailyRoomProperties: {}, unknown: 1 }],
  ])('starts a session for a request %s', async (_, body) => {
    const { status, json } = await startSession(body);
    expect([status, json]).toEqual([200, { sessionId: expect.stringMatching(uuid) }]);
    const id = String(json['sessionId']);
    expect(await evaluateJavaScriptInBot(service, 'default', id, 'state.starts[0].body')).toBe('{}');
    await stopAgentSession(service, 'default', id);
    await waitForSessionEnd(service, 'default', id);
  });

  it('does not wait for file operations that occupy all threads of the thread pool', async () => {
    const release = await occupyThreadPool();
    onTestFinished(release);
    const { status, json } = await startSession({});
    await release();
    expect(status).toBe(200);
    await stopAgentSession(service, 'default', String(json['sessionId']));
    await waitForSessionEnd(service, 'default', String(json['sessionId']));
  });

  it('passes the body of the start request to the bot unchanged', async () => {
    const body = { name: 'Zoë', list: [1, { deep: null }], text: '\u0000\u2028 \ud83e\udd9c "quoted"' };
    const { json } = await startSession({ body });
    const id = String(json['sessionId']);
    expect(JSON.parse(await evaluateJavaScriptInBot<string>(service, 'default', id, 'state.starts[0].body'))).toEqual(
      body,
    );
    await stopAgentSession(service, 'default', id);
    await waitForSessionEnd(service, 'default', id);
  });

  it('returns the ICE configuration for WebRTC if requested', async () => {
    const { json } = await startSession({ transport: 'webrtc', enableDefaultIceServers: true });
    expect(json).toEqual({ sessionId: expect.stringMatching(uuid), iceConfig: { iceServers: [] } });
    await stopAgentSession(service, 'default', String(json['sessionId']));
    await waitForSessionEnd(service, 'default', String(json['sessionId']));
  });

  it('returns only wsUrl and token for a WebSocket if the agent has websocket_start = "minimal"', async () => {
    const { json } = await startSession({ transport: 'websocket', body: { caller: 'anna' } }, '', 'strict');
    expect(Object.keys(json)).toEqual(['wsUrl', 'token']);
    const { sessions } = await service.client.getSessions({ params: { agentName: 'strict' } });
    await stopAgentSession(service, 'strict', sessions[0]?.sessionId ?? '');
  });

  it('returns the URL, the token and the encoded body if the transport is a WebSocket', async () => {
    const { json } = await startSession({ transport: 'websocket', body: { caller: 'anna' } });
    expect(json).toEqual({
      sessionId: expect.stringMatching(uuid),
      wsUrl: 'wss://bots.example.com/ws/generic/default.test-org',
      token: expect.stringMatching(/^[\w-]+\.[\w-]+$/),
      body: Buffer.from('{"caller":"anna"}').toString('base64'),
    });
    await stopAgentSession(service, 'default', String(json['sessionId']));
  });

  it('returns only the fields in the query parameter "fields", and rejects unknown fields', async () => {
    const { json } = await startSession({ transport: 'websocket' }, '?fields=wsUrl,token');
    expect(Object.keys(json).sort()).toEqual(['token', 'wsUrl']);
    expect(await startSession({ transport: 'websocket' }, '?fields=wsUrl,secret')).toMatchObject({
      status: 400,
      json: { reason: 'invalid-request' },
    });
  });

  it('returns only the URL, and creates no session, for a WebSocket of an agent that requires no token', async () => {
    const { json } = await startSession({ transport: 'websocket' }, '', 'open');
    expect(json).toEqual({ wsUrl: 'wss://bots.example.com/ws/generic/open.test-org' });
    expect((await service.client.getSessions({ params: { agentName: 'open' } })).total_count).toBe(0);
  });
});
