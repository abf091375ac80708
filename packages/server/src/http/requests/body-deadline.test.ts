import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { openTcpSocket, sendRawBytes } from '../../../test/support/client.ts';
import { limitBodyTime } from './body-deadline.ts';

describe('the time limit for a request body', () => {
  let close = () => {};
  afterEach(() => close());

  async function serve(handle: (incoming: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer(handle).listen(0, '127.0.0.1');
    await once(server, 'listening');
    close = () => void server.close();
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it('closes the connection with 408 if a body arrives too slowly', async () => {
    const service = await serve((incoming) => {
      limitBodyTime(incoming, 'an-id', 50);
      incoming.resume();
    });
    const socket = await openTcpSocket(service);
    socket.on('error', () => undefined);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 10);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    await once(socket, 'close');
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"request-too-slow"/);
  });

  it('does not apply to a slow response after a complete request', async () => {
    const service = await serve(async (incoming, response) => {
      limitBodyTime(incoming, 'an-id', 20);
      const body = await text(incoming);
      // Node.js runs timers with the same delay in the order of their creation, so the limit would be first.
      setTimeout(() => response.end(body), 20);
    });
    const answer = await sendRawBytes(
      service,
      'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nab',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*ab/);
  });
});
