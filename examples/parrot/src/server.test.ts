import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type ParrotServer, startParrotServer } from './server.ts';

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startTestParrot(controlToken?: string): Promise<{ parrot: ParrotServer; url: string; lines: string[] }> {
  const lines: string[] = [];
  const parrot = await startParrotServer({
    host: '127.0.0.1',
    port: 0,
    controlToken,
    newSessionId: () => 'generated',
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log: (line) => lines.push(line),
  });
  open.push(parrot.close);
  return { parrot, url: `http://127.0.0.1:${parrot.port}`, lines };
}

const start = (url: string, headers: Record<string, string> = {}, body: unknown = {}) =>
  fetch(`${url}/bot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const stop = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/_bot/stop`, { method: 'POST', headers, body: '{"graceSeconds": 5}' });
const report = async (url: string, query = '') => (await fetch(`${url}/_bot/session${query}`)).json();

/** Polls `GET /_bot/session`, because `POST /bot` responds only at the end of the session. */
async function untilRunning(url: string): Promise<void> {
  await expect.poll(() => report(url)).toMatchObject({ state: 'running' });
}

async function refusedStatus(socket: WebSocket): Promise<number | undefined> {
  const [, response] = await once(socket, 'unexpected-response');
  response.resume();
  return response.statusCode;
}

test('a new parrot responds to probes and reports the state idle', async () => {
  const { url } = await startTestParrot();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await report(url)).toEqual({ sessionId: null, state: 'idle' });
});

test('POST /bot responds when the session is stopped, and the long poll of GET /_bot/session reports the end', async () => {
  const { url, lines } = await startTestParrot();
  const answer = start(url, { 'x-session-id': 's-1' }, { say: 'good morning' });
  await untilRunning(url);
  expect(lines).toContain('good morning');
  const poll = report(url, '?wait=20');
  expect((await start(url)).status).toBe(409);
  expect((await stop(url)).status).toBe(202);
  expect((await answer).status).toBe(200);
  expect(await (await answer).json()).toEqual({});
  expect(await poll).toMatchObject({
    sessionId: 's-1',
    state: 'ended',
    status: 200,
    endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect((await stop(url)).status).toBe(409);
});

test('a session with exitAfterSeconds ends with status 200 after this time', async () => {
  const { url } = await startTestParrot();
  const answer = await start(url, {}, { exitAfterSeconds: 0.01 });
  expect([answer.status, await answer.json()]).toEqual([200, {}]);
});

test('a session ends at its time limit with the completion status SESSION_TIME_LIMIT', async () => {
  const { url } = await startTestParrot();
  const answer = await start(url, { 'x-max-session-seconds': '0.02' });
  expect([answer.status, await answer.json()]).toEqual([200, { completionStatus: 'SESSION_TIME_LIMIT' }]);
  expect(await report(url)).toMatchObject({ state: 'ended', completionStatus: 'SESSION_TIME_LIMIT' });
});

test('a caller that disconnects does not end the session', async () => {
  const { parrot, url } = await startTestParrot();
  const dropped = request({ port: parrot.port, path: '/bot', method: 'POST' });
  dropped.on('error', () => {});
  dropped.end('{}');
  await untilRunning(url);
  const closed = new Promise((resolve) => dropped.once('close', resolve));
  dropped.destroy();
  await closed;
  expect(await report(url)).toMatchObject({ state: 'running' });
  expect((await stop(url)).status).toBe(202);
  expect(await report(url, '?wait=20')).toMatchObject({ state: 'ended' });
});

test('an invalid start request is rejected and starts no session', async () => {
  const { url } = await startTestParrot();
  const webrtc = await start(url, { 'x-transport-type': 'webrtc' });
  expect([webrtc.status, await webrtc.json()]).toEqual([501, { error: expect.any(String), code: '501' }]);
  expect((await start(url, {}, [])).status).toBe(400);
  expect((await start(url, {}, { exitAfterSeconds: 'soon' })).status).toBe(400);
  expect((await fetch(`${url}/bot`, { method: 'POST', body: '{' })).status).toBe(400);
  expect((await start(url, {}, { say: 'x'.repeat(1_100_000) })).status).toBe(413);
  expect((await fetch(`${url}/bot`)).status).toBe(405);
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  expect(await report(url)).toMatchObject({ state: 'idle' });
});

test('reserved paths require the control token in one of two headers, and other paths require no token', async () => {
  const { url } = await startTestParrot('open-sesame');
  const wrong = { authorization: 'Bearer open-sesam' };
  expect((await start(url)).status).toBe(401);
  expect((await stop(url, wrong)).status).toBe(401);
  expect((await fetch(`${url}/_bot/session`)).status).toBe(401);
  expect(await refusedStatus(new WebSocket(`${url}/ws`))).toBe(401);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/hello`)).status).toBe(200);
  expect((await fetch(`${url}/`)).status).toBe(200);
  expect((await stop(url, { authorization: 'Bearer open-sesame' })).status).toBe(409);
  expect((await stop(url, { 'x-bot-control-token': 'open-sesame' })).status).toBe(409);
});

test('a WebSocket session lasts until either side closes the socket', async () => {
  const { url } = await startTestParrot();
  const first = new WebSocket(`${url}/ws`, { headers: { 'x-session-id': 's-2' } });
  await once(first, 'open');
  expect(await report(url)).toMatchObject({ sessionId: 's-2', state: 'running' });
  expect(await refusedStatus(new WebSocket(`${url}/ws`))).toBe(409);
  first.close();
  expect(await report(url, '?wait=20')).toEqual({ sessionId: 's-2', state: 'ended', endedAt: expect.any(String) });
  expect((await fetch(`${url}/_bot/session?wait=soon`)).status).toBe(400);

  const second = new WebSocket(`${url}/ws`, { headers: { 'x-session-id': 's-3' } });
  await once(second, 'open');
  const closed = once(second, 'close');
  expect((await stop(url)).status).toBe(202);
  expect((await closed)[0]).toBe(1000);
  expect(await report(url, '?wait=20')).toMatchObject({ sessionId: 's-3', state: 'ended' });
});

test('an invalid upgrade request starts no session', async () => {
  const { parrot, url } = await startTestParrot();
  const broken = request({ port: parrot.port, path: '/ws', headers: { connection: 'upgrade', upgrade: 'websocket' } });
  broken.end();
  const [response] = await once(broken, 'response');
  response.resume();
  expect(response.statusCode).toBe(400);
  expect(await report(url)).toMatchObject({ state: 'idle' });
});

test('GET /entered returns the Unix time at which the handler of the session was called', async () => {
  const { url } = await startTestParrot();
  expect(await (await fetch(`${url}/entered`)).json()).toEqual({ sessionId: null, enteredAtMs: null });
  const before = performance.timeOrigin + performance.now();
  await start(url, { 'x-session-id': 's-4' }, { exitAfterSeconds: 0 });
  const after = performance.timeOrigin + performance.now();
  const entered = (await (await fetch(`${url}/entered`)).json()) as { sessionId: string; enteredAtMs: number };
  expect(entered.sessionId).toBe('s-4');
  expect(entered.enteredAtMs).toBeGreaterThanOrEqual(before);
  expect(entered.enteredAtMs).toBeLessThanOrEqual(after);
});

test('POST /echo sends bytes back before the request is complete', async () => {
  const { parrot } = await startTestParrot();
  const upload = request({
    port: parrot.port,
    path: '/echo',
    method: 'POST',
    headers: { 'content-type': 'text/x-seed' },
  });
  upload.write('one');
  const [response] = await once(upload, 'response');
  expect(response.headers['content-type']).toBe('text/x-seed');
  const chunks = response[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe('one');
  upload.end('two');
  expect(String((await chunks.next()).value)).toBe('two');
  expect((await chunks.next()).done).toBe(true);
});

test('GET /events sends events until the session ends', async () => {
  const { url } = await startTestParrot();
  const session = start(url, { 'x-session-id': 's-5' });
  await untilRunning(url);
  const events = await fetch(`${url}/events`);
  expect(events.headers.get('content-type')).toBe('text/event-stream');
  await stop(url);
  await session;
  expect(await events.text()).toContain('data: {"count":1,"sessionId":"s-5"}\n\n');
});

test('the echo socket returns text as text and bytes as bytes', async () => {
  const { url } = await startTestParrot();
  const socket = new WebSocket(`${url}/echo-socket`);
  await once(socket, 'open');
  socket.send('seed');
  const [text, textIsBinary] = await once(socket, 'message');
  expect([String(text), textIsBinary]).toEqual(['seed', false]);
  socket.send(Buffer.from([0, 255]));
  const [bytes, bytesAreBinary] = await once(socket, 'message');
  expect([bytes, bytesAreBinary]).toEqual([Buffer.from([0, 255]), true]);
});

test('POST /burn uses the requested CPU time, and stops when its session ends', async () => {
  const { url } = await startTestParrot();
  const burn = (load: unknown) => fetch(`${url}/burn`, { method: 'POST', body: JSON.stringify(load) });
  const short = await (await burn({ cpuMillicores: 400, megabytes: 20, seconds: 1 })).json();
  expect(short).toMatchObject({ cpuMillicores: 400, megabytes: 20, seconds: 1 });
  // Check only a lower bound, because the process uses some CPU in addition to the load.
  expect((short as { cpuMilliseconds: number }).cpuMilliseconds).toBeGreaterThanOrEqual(400);

  const session = start(url);
  await untilRunning(url);
  const long = await burn({ cpuMillicores: 0, seconds: 3600 });
  await stop(url);
  await session;
  expect(await long.json()).toMatchObject({ seconds: 3600 });
  expect((await burn({ cpuMillicores: -1 })).status).toBe(400);
});

test('close() ends the running session and stops listening', async () => {
  const { parrot, url } = await startTestParrot();
  const answer = start(url);
  await untilRunning(url);
  await parrot.close();
  expect((await answer).status).toBe(200);
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});
