import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request } from 'node:http';
import { Writable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { openTcpSocket, startAgentSession } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

const logged: { level: number; msg: string; err?: unknown; path?: string }[] = [];
const log = new Writable({
  write: (line, _, done) => {
    logged.push(JSON.parse(line));
    done();
  },
});
const service = await useTestServer({ bots: { quiet: {} }, logger: pino(log) });

/**
 * Resolves when Fastify reports that the handler of the request with this id has started (`start`) or responded
 * (`asyncEnd`).
 */
function handler(moment: 'start' | 'asyncEnd', id: string): Promise<void> {
  const channel = `tracing:fastify.request.handler:${moment}`;
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      const { headers } = (message as { request: FastifyRequest }).request;
      if (headers['x-test-id'] === id) resolve();
    };
    subscribe(channel, onMessage);
    onTestFinished(() => void unsubscribe(channel, onMessage));
  });
}

it('a waiting request for logs ends when its client disconnects', async () => {
  const sessionId = await startAgentSession(service, 'quiet');
  const path = `/v1/agents/quiet/logs?sessionId=${sessionId}&order=asc&wait=25`;
  const [begun, over] = [handler('start', 'left'), handler('asyncEnd', 'left')];
  const headers = { authorization: `Bearer ${service.privateKey}`, 'x-test-id': 'left' };
  const sent = request(service.url + path, { headers });
  sent.on('error', () => undefined).end();
  await begun;
  sent.destroy();
  // The handler must end because the client disconnected. Otherwise it would wait for 25 s, longer than the time limit
  // of this test.
  await over;
}, 20_000);

it('a client that disconnects in the middle of a body is logged without an error', async () => {
  const socket = await openTcpSocket(service);
  const head = `POST /v1/public/quiet/start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\n`;
  logged.length = 0;
  socket.write(`${head}content-length: 1000\r\nexpect: 100-continue\r\n\r\n`);
  // The response 100 Continue shows that the service is reading the body.
  await once(socket, 'data');
  socket.destroy();
  await expect
    .poll(() => logged.filter(({ path }) => path === '/v1/public/quiet/start'))
    .toMatchObject([{ level: 30, msg: 'client disconnected before the end of its request' }]);
  expect(logged.filter(({ level, err }) => level > 30 || err !== undefined)).toEqual([]);
});

it('a client that resets the connection after an upgrade request does not end the service', async () => {
  const handshake = 'host: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n';
  for (let round = 0; round < 20; round += 1) {
    const socket = await openTcpSocket(service);
    socket.write(`GET /nothing HTTP/1.1\r\n${handshake}`, () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});
