import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  evaluateJavaScriptInBot,
  openTcpSocket,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

describe('when a client disconnects, the service', () => {
  let service: TestServer;
  let bots: BotProjectDirectory[];

  beforeAll(async () => {
    bots = [
      await writeBot('target', { maxAgents: 2 }),
      // Makes the first readiness probes of this bot fail, so that the service holds requests to it.
      await writeBot('slow', {
        prelude: `{ const http = require('node:http');
          const real = http.createServer;
          let probes = 0;
          http.createServer = (handler) => real((request, response) =>
            request.url === '/readyz' && ++probes < 8 ? response.writeHead(503).end() : handler(request, response)); }`,
      }),
    ];
    service = await startTestServer({ agents: bots.map((bot) => bot.path) });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });

  const order = (id: string, code: string) => evaluateJavaScriptInBot(service, 'target', id, code);
  const head = (id: string, method: string, lines: string, agentName = 'target') =>
    `${method} ${new URL(sessionUrl(service, agentName, id, '/x')).pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\n${lines}\r\n`;

  it('keeps the session if the client waited for the bot to start', async () => {
    const id = await startAgentSession(service, 'slow');
    const open = async () => {
      const socket = await openTcpSocket(service);
      socket.write(head(id, 'GET', '', 'slow'));
      return socket;
    };
    const [first, second, third] = [await open(), await open(), await open()] as const;
    first.destroy();
    second.resetAndDestroy();
    const [answer] = await once(third, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 [\s\S]*the bot knows no such path/);
    third.destroy();
    expect(await evaluateJavaScriptInBot(service, 'slow', id, 'state.starts.length')).toBe(1);
    await stopAgentSession(service, 'slow', id);
    await waitUntilAgentIdle(service, 'slow');
  });

  it.each([
    ['in the middle of a sized upload', 'content-length: 1000000\r\n', 'x'.repeat(5_000)],
    ['in the middle of an upload in chunks', 'transfer-encoding: chunked\r\n', `1388\r\n${'x'.repeat(5_000)}\r\n`],
  ])('aborts the request to the bot if the client was %s', async (_, lines, body) => {
    const id = await startAgentSession(service, 'target');
    await order(
      id,
      `state.upload = 'none'; state.onRequest = (request) => { state.upload = 'begun';
        request.on('data', () => {}).on('end', () => { state.upload = 'whole'; }).on('error', () => { state.upload = 'broken'; }); }; true`,
    );
    const socket = await openTcpSocket(service);
    socket.write(head(id, 'POST', lines) + body);
    await expect.poll(() => order(id, 'state.upload')).toBe('begun');
    socket.destroy();
    await expect.poll(() => order(id, 'state.upload')).toBe('broken');
    await stopAgentSession(service, 'target', id);
    await waitUntilAgentIdle(service, 'target');
  });

  it('stops the download from the bot', async () => {
    const id = await startAgentSession(service, 'target');
    await order(
      id,
      `state.closed = false; state.onRequest = (request, response) => {
        const block = Buffer.alloc(1048576); const push = () => { while (response.write(block)); }; response.on('drain', push).on('close', () => { state.closed = true; }); push(); }; true`,
    );
    const sent = request(sessionUrl(service, 'target', id, '/x'), {
      headers: { authorization: `Bearer ${service.publicKey}` },
    });
    sent.end();
    const [answer] = await once(sent, 'response');
    await once(answer, 'data');
    sent.destroy();
    await expect.poll(() => order(id, 'state.closed')).toBe(true);
    await stopAgentSession(service, 'target', id);
    await waitUntilAgentIdle(service, 'target');
  });

  it('closes the WebSocket of the session proxy to the bot and keeps the session', async () => {
    const id = await startAgentSession(service, 'target');
    const url = sessionUrl(service, 'target', id, '/socket').replace('http', 'ws');
    const socket = new WebSocket(`${url}?access_token=${service.publicKey}`);
    await once(socket, 'open');
    expect(await order(id, 'sockets.clients.size')).toBe(1);
    socket.terminate();
    await expect.poll(() => order(id, 'sockets.clients.size')).toBe(0);
    expect(await order(id, 'state.starts.length')).toBe(1);
    await stopAgentSession(service, 'target', id);
    await waitUntilAgentIdle(service, 'target');
  });

  it('ends the session of a WebSocket client, with another status than if the bot disconnects', async () => {
    const open = async () => {
      const { sessionId, url } = await startWebSocketSession(service, 'target');
      const socket = new WebSocket(url);
      await once(socket, 'open');
      return { socket, sessionId };
    };
    const client = await open();
    client.socket.terminate();
    expect((await waitForSessionEnd(service, 'target', client.sessionId)).completionStatus).toBe(
      'WS_CONNECTION_CLOSED',
    );
    await waitUntilAgentIdle(service, 'target');

    const bot = await open();
    const closed = once(bot.socket, 'close');
    await order(bot.sessionId, 'setImmediate(() => process.kill(process.pid, "SIGKILL")); true');
    expect((await closed)[0]).toBe(1011);
    expect((await waitForSessionEnd(service, 'target', bot.sessionId)).completionStatus).toBe('HTTP_ERROR');
    await waitUntilAgentIdle(service, 'target');
  });

  it('keeps the session listed and stoppable if the client did not read the whole start response', async () => {
    const socket = await openTcpSocket(service);
    const body = '{}';
    socket.write(
      `POST /v1/public/target/start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    // Wait for the first bytes of the response. The service ignores a request whose client disconnects before the service has
    // read the request.
    await once(socket, 'data');
    socket.destroy();
    const active = async () =>
      (await service.client.getSessions({ params: { agentName: 'target' }, query: { status: 'active' } })).sessions;
    await expect.poll(async () => (await active()).length).toBe(1);
    const [session] = await active();
    await stopAgentSession(service, 'target', session?.sessionId ?? '');
    expect((await waitForSessionEnd(service, 'target', session?.sessionId ?? '')).completionStatus).toBe(
      'SESSION_STOPPED',
    );
    await waitUntilAgentIdle(service, 'target');
  });
});
