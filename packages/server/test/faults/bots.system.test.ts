import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const listen = `.listen(Number(process.env.PORT), process.env.BOT_HOST)`;

describe('the service with a faulty bot', () => {
  let service: TestServer;
  let bots: BotProjectDirectory[];

  beforeAll(async () => {
    bots = [
      await writeBot('gone', { afterFall: 'console.error("no luck today"); process.exit(3);' }),
      await writeBot('binary', {
        afterFall:
          'require("node:fs").writeSync(2, Buffer.from("bad\\0\\x1b[31m\\xff\\xfe end", "latin1")); process.exit(4);',
      }),
      await writeBot('never', {
        afterFall: `require('node:http').createServer((_, response) => response.writeHead(503).end())${listen};`,
      }),
      await writeBot('nonsense', {
        alone: true,
        prelude: `require('node:net').createServer((socket) => socket.on('error', () => undefined).once('data', (data) => {
          const line = String(data).split(' ')[1];
          if (line === '/readyz') return socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n');
          if (line === '/bot') return;
          socket.end(Buffer.from(decodeURIComponent(line.slice(1)).replace('LONG', 'a'.repeat(40_000)), 'latin1'));
        }))${listen};`,
      }),
    ];
    service = await startTestServer({ agents: bots.map((bot) => bot.path) });
    // Break the bots only after their deployments were validated, because a deployment that never worked gets no traffic. The
    // sessions below use up the working instances that were started for the validation.
    for (const [index, name] of ['gone', 'binary', 'never'].entries()) {
      await bots[index]?.fall();
      const id = await startAgentSession(service, name);
      await evaluateJavaScriptInBot(service, name, id, 'state.end(200, "{}")');
    }
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });

  it('ends the session, with exit status and last output lines, if the bot exits before it is ready', async () => {
    const id = await startAgentSession(service, 'gone');
    const held = fetch(sessionUrl(service, 'gone', id, '/x'), createBearerTokenHeaders(service.publicKey));
    expect(await waitForSessionEnd(service, 'gone', id)).toMatchObject({
      completionStatus: 'HTTP_ERROR',
      endState: 'ended_before_agent_start',
      botStartSeconds: null,
    });
    expect(await waitForInstanceExit(service, 'gone', id)).toMatchObject({
      code: 3,
      signal: null,
      tail: expect.stringContaining('no luck today'),
    });
    expect((await held).status).toBe(404);
    await waitUntilAgentIdle(service, 'gone');
  });

  it('refuses a waiting WebSocket with an HTTP status if the bot exits before it is ready', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'gone');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(502);
    socket.terminate();
    expect((await waitForSessionEnd(service, 'gone', sessionId)).completionStatus).toBe('HTTP_ERROR');
  });

  it('records the readable part of output with invalid UTF-8', async () => {
    const id = await startAgentSession(service, 'binary');
    expect((await waitForSessionEnd(service, 'binary', id)).completionStatus).toBe('HTTP_ERROR');
    expect(await waitForInstanceExit(service, 'binary', id)).toMatchObject({
      code: 4,
      tail: expect.stringMatching(/bad.*end/s),
    });
    await waitUntilAgentIdle(service, 'binary');
  });

  it('leaves no process if the session is stopped before its bot is ready', async () => {
    const id = await startAgentSession(service, 'never');
    const held = fetch(sessionUrl(service, 'never', id, '/x'), createBearerTokenHeaders(service.publicKey));
    await expect
      .poll(async () => (await service.client.getAgent({ params: { agentName: 'never' } })).startingInstanceCount)
      .toBe(1);
    await stopAgentSession(service, 'never', id);
    expect((await held).status).toBe(404);
    expect(await waitForSessionEnd(service, 'never', id)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
      botStartSeconds: null,
      coldStart: null,
    });
    await waitUntilAgentIdle(service, 'never');
  });

  it('stops the bot if its WebSocket client disconnects before the bot is ready', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'never');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    const agent = () => service.client.getAgent({ params: { agentName: 'never' } });
    await expect.poll(async () => (await agent()).startingInstanceCount).toBe(1);
    socket.terminate();
    expect((await waitForSessionEnd(service, 'never', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    await waitUntilAgentIdle(service, 'never');
  });

  it.each([
    ['a status below 100', 'HTTP/1.1 042 Odd\r\n\r\n'],
    ['an invalid status', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['an unexpected 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['an unexpected switch of protocols', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['no HTTP', 'hello'],
    ['nothing', ''],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a length and a coding', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['invalid characters in a header', 'HTTP/1.1 200 OK\r\nx-a: \x01\x02\r\ncontent-length: 0\r\n\r\n'],
    ['endless headers', 'HTTP/1.1 200 OK\r\nx-a: LONG\r\n\r\n'],
  ])('survives a response with %s, and responds to the client', async (_, answer) => {
    const id = await startAgentSession(service, 'nonsense');
    const url = sessionUrl(service, 'nonsense', id, `/${encodeURIComponent(answer)}`);
    const { status } = await fetch(url, createBearerTokenHeaders(service.publicKey)).catch(() => ({ status: 0 }));
    expect([502, 999]).toContain(status);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await stopAgentSession(service, 'nonsense', id);
    await waitUntilAgentIdle(service, 'nonsense');
  });
});
