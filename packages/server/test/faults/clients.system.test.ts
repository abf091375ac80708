import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  evaluateJavaScriptInBot,
  openTcpSocket,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

// Makes the first readiness probes of a bot fail, so that the service holds requests to it.
const slowStart = `{ const http = require('node:http');
  const real = http.createServer;
  let probes = 0;
  http.createServer = (handler) => real((request, response) =>
    request.url === '/readyz' && ++probes < 8 ? response.writeHead(503).end() : handler(request, response)); }`;
const service = await useTestServer({ bots: { target: { maxAgents: 2 }, slow: { prelude: slowStart } } });

describe('when a client disconnects, the service', () => {
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
