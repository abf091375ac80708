import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { postSessionToBot, requestSessionState, requestSessionStop } from './bot-http.ts';

const never = new AbortController().signal;
const servers: Server[] = [];

/** Starts a bot on a real socket, with the given responses. */
async function bot(listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
}
const answering = (status: number, body: string) => bot((_, response) => response.writeHead(status).end(body));

/** Returns an address on which nothing listens. */
async function nobody() {
  const { server, address } = await bot(() => undefined);
  server.close();
  await once(server, 'close');
  return address;
}

/** Returns an address that neither accepts nor refuses connections: the queue of a stopped process is full. */
async function silentAddress() {
  const program = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () =>
    process.stdout.write(String(server.address().port)));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const address = { host: '127.0.0.1', port: Number(port) };
  const waiting = Array.from({ length: 8 }, () => connect(address).on('error', () => undefined));
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const socket of waiting) socket.destroy();
  });
  await once(waiting[0] as Socket, 'connect');
  return address;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe('postSessionToBot', () => {
  it('sends a JSON body with content-length and headers on a separate connection', async () => {
    const seen: unknown[] = [];
    const { address } = await bot(async (request, response) => {
      const { method, url, headers } = request;
      seen.push(
        method,
        url,
        await text(request),
        headers['content-type'],
        headers['content-length'],
        headers['x-session-id'],
      );
      response.end('{}');
    });
    const { answer } = postSessionToBot(address, { 'x-session-id': 's' }, '{"name":"Zoë"}');
    expect(await answer).toEqual({ kind: 'responded', status: 200, ownStatus: null });
    expect(seen).toEqual(['POST', '/bot', '{"name":"Zoë"}', 'application/json', '15', 's']);
  });

  it.each([
    ['{"completionStatus":"DONE"}', 'DONE'],
    ['{"completionStatus":7}', null],
    ['{}', null],
    ['null', null],
    ['not JSON', null],
    ['', null],
    [JSON.stringify({ completionStatus: 'DONE', filler: 'x'.repeat(70_000) }), null],
  ])('returns the completion status if the response contains a valid one: $0', async (body, ownStatus) => {
    const { address } = await answering(500, body);
    expect(await postSessionToBot(address, {}, '{}').answer).toEqual({ kind: 'responded', status: 500, ownStatus });
  });

  it('reports a lost connection if nothing listens', async () => {
    const { answer } = postSessionToBot(await nobody(), {}, '{}');
    expect(await answer).toMatchObject({
      kind: 'broken',
      message: expect.stringContaining('ECONNREFUSED'),
      isUndelivered: true,
    });
  });

  it('reports after three seconds that no connection could be established', { timeout: 10_000 }, async () => {
    const { answer } = postSessionToBot(await silentAddress(), {}, '{}');
    const message = 'no connection within 3 seconds';
    expect(await answer).toEqual({ kind: 'broken', message, isUndelivered: true });
  });

  it.each<[string, (socket: Socket, send: (text: string) => void) => void]>([
    ['before its response', (socket) => socket.destroy()],
    ['with a reset', (socket) => socket.resetAndDestroy()],
    [
      'during its response',
      (socket, send) => {
        send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"');
        socket.end();
      },
    ],
  ])('reports a lost connection if the bot ends the connection %s', async (_, leave) => {
    const { address } = await bot((request) => {
      request.resume().once('end', () => leave(request.socket, (part) => request.socket.write(part)));
    });
    const { answer } = postSessionToBot(address, {}, '{}');
    expect(await answer).toMatchObject({ kind: 'broken', isUndelivered: false });
  });

  it('reports a lost connection if the bot switches to another protocol', async () => {
    const { address } = await bot((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    });
    const { answer } = postSessionToBot(address, {}, '{}');
    expect(await answer).toEqual({
      kind: 'broken',
      message: 'the bot switched to another protocol',
      isUndelivered: false,
    });
  });

  it('reports a lost connection if the service aborts the request', async () => {
    const { server, address } = await bot((request) => request.resume());
    const { answer, abort } = postSessionToBot(address, {}, '{}');
    await once(server, 'request');
    abort();
    expect(await answer).toEqual({ kind: 'broken', message: 'the service aborted the request', isUndelivered: false });
  });
});

describe('requestSessionState', () => {
  it('sends the control token and the maximum wait time', async () => {
    const seen: unknown[] = [];
    const { address } = await bot((request, response) => {
      seen.push(request.url, request.headers.authorization);
      response.end('{"state":"idle"}');
    });
    expect(await requestSessionState(address, 'secret', 25, never)).toEqual({ state: 'idle' });
    expect(seen).toEqual(['/_bot/session?wait=25', 'Bearer secret']);
  });

  it('returns the state of the session', async () => {
    const known = {
      state: 'ended',
      sessionId: 's',
      status: 200,
      completionStatus: 'DONE',
      exception: { type: 'ValueError', message: 'no seeds' },
      startedAt: '2026-11-20T12:00:00.000Z',
      endedAt: '2026-11-20T12:00:01.000Z',
    };
    const { address } = await answering(200, JSON.stringify({ ...known, more: 'is left out' }));
    expect(await requestSessionState(address, 't', 0, never)).toEqual(known);
  });

  it.each([{ type: 'ValueError' }, 'ValueError', 7])(
    'ignores an exception in an unknown form: %j',
    async (exception) => {
      const { address } = await answering(200, JSON.stringify({ state: 'ended', exception }));
      expect(await requestSessionState(address, 't', 0, never)).toEqual({ state: 'ended', exception: null });
    },
  );

  it.each([
    ['has no such route', 404, '{"state":"idle"}'],
    ['rejects the control token', 401, '{"state":"idle"}'],
    ['returns an unrelated response', 200, '{"state":"dancing"}'],
    ['returns invalid JSON', 200, '<html>'],
    ['returns invalid times', 200, '{"state":"running","startedAt":"yesterday"}'],
  ])('returns null for a bot that %s', async (_, status, body) => {
    const { address } = await answering(status, body);
    expect(await requestSessionState(address, 't', 0, never)).toBeNull();
  });

  it('rejects if nothing listens, or when the request is aborted', async () => {
    await expect(requestSessionState(await nobody(), 't', 0, never)).rejects.toThrow('ECONNREFUSED');
    const closing = new AbortController();
    const { address } = await bot(() => closing.abort());
    await expect(requestSessionState(address, 't', 25, closing.signal)).rejects.toThrow();
  });
});

describe('requestSessionStop', () => {
  it('sends the grace period', async () => {
    const seen: unknown[] = [];
    const { address } = await bot(async (request, response) => {
      seen.push(request.method, request.url, request.headers.authorization, await text(request));
      response.writeHead(202).end('{}');
    });
    expect(await requestSessionStop(address, 'secret', 20)).toBe(true);
    expect(seen).toEqual(['POST', '/_bot/stop', 'Bearer secret', '{"graceSeconds":20}']);
  });

  it.each([200, 404, 409, 500])('returns false for response status %s', async (status) => {
    const { address } = await answering(status, '{}');
    expect(await requestSessionStop(address, 't', 20)).toBe(false);
  });

  it('returns false if nothing listens', async () => {
    expect(await requestSessionStop(await nobody(), 't', 20)).toBe(false);
  });
});
