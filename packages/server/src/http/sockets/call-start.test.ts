import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { readAgentFromCallStart } from './call-start.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0)) step();
});

/**
 * Opens the WebSocket of a call from a telephone carrier to the service. Returns the service's end as a WebSocket (`near`) and
 * as a TCP socket (`socket`), and the carrier's end as a WebSocket (`far`).
 */
async function call(): Promise<{ near: WebSocket; socket: Duplex; far: WebSocket }> {
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [incoming, socket, head] = await once(server, 'upgrade');
  const near = await new Promise<WebSocket>((resolve) => sockets.handleUpgrade(incoming, socket, head, resolve));
  undo.push(
    () => far.terminate(),
    () => void server.close(),
  );
  await once(far, 'open');
  return { near, socket, far };
}

it('readAgentFromCallStart rejects a call that sends no start message in time', async () => {
  const { near, socket, far } = await call();
  const opening = readAgentFromCallStart(near, socket, 0.05);
  far.send('{"event":"connected"}');
  await expect(opening).rejects.toMatchObject({
    reason: 'invalid-request',
    message: expect.stringContaining('0.05 s'),
  });
});

it('readAgentFromCallStart rejects if the call ends before its start message', async () => {
  const { near, socket, far } = await call();
  const opening = readAgentFromCallStart(near, socket);
  far.close();
  await expect(opening).rejects.toMatchObject({ reason: 'invalid-request' });
});

it('readAgentFromCallStart limits the bytes of an incomplete message', async () => {
  const { near, socket, far } = await call();
  const opening = readAgentFromCallStart(near, socket);
  // Send pongs instead of pings. The service would answer pings, and too many queued answers would end the connection.
  for (let sent = 0; sent < 200; sent += 1) far.pong('x'.repeat(100));
  await expect(opening).rejects.toMatchObject({ message: expect.stringContaining('16384 bytes') });
});

it('readAgentFromCallStart removes its listeners after the start message', async () => {
  const { near, socket, far } = await call();
  const count = () =>
    ['message', 'close'].map((event) => near.listenerCount(event)).concat(socket.listenerCount('data'));
  const before = count();
  const opening = readAgentFromCallStart(near, socket);
  far.send('{"event":"start","start":{"customParameters":{"_pipecatCloudServiceHost":"phone.home"}}}');
  expect(await opening).toEqual({ agentName: 'phone', organizationName: 'home' });
  expect(count()).toEqual(before);
});
