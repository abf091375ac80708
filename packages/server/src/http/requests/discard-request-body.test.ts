import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createNodeServer } from '../node-server.ts';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

describe('discardRequestBody', () => {
  let close = () => {};
  afterEach(() => close());

  /** Starts a server. Returns its port and its connections. */
  async function serve(handler: Handler): Promise<{ readonly port: number; readonly sockets: readonly Socket[] }> {
    const streamed = { proxy: async () => undefined, uploads: async () => undefined };
    const server = createNodeServer({ origins: [] }, streamed, () => 'an-id', handler);
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    close = () => void server.close();
    return { port: (server.address() as AddressInfo).port, sockets };
  }

  it.each<[string, Handler]>([
    ['that no handler has read', (_, response) => response.end()],
    [
      'that a handler has read in part',
      (incoming, response) => {
        incoming.once('data', () => {
          incoming.pause();
          response.end();
        });
      },
    ],
    [
      'that is still piped to a stream',
      (incoming, response) => {
        incoming.pipe(new Writable({ write: (_chunk, _encoding, done) => done() }));
        response.end();
      },
    ],
  ])('pauses between reads of a body %s', async (_, handler) => {
    const { port, sockets } = await serve(handler);
    const sent = Promise.all([sendLargeBody(port), sendLargeBody(port)]);
    let areSent = false;
    void sent.finally(() => {
      areSent = true;
    });
    let largestRead = 0;
    for (let total = 0; !areSent; await nextEventLoopTurn()) {
      const read = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      largestRead = Math.max(largestRead, read - total);
      total = read;
    }
    await sent;
    expect(largestRead).toBeLessThan(512 * 1024);
  });

  it('keeps the connection for the next request after a body of many small chunks', async () => {
    const { port } = await serve((_, response) => response.end());
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /first HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.write(`${'a\r\n0123456789\r\n'.repeat(10_000)}0\r\n\r\n`);
    socket.write('GET /second HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    let responses = '';
    for await (const chunk of socket) responses += chunk;
    expect(responses.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});

/** Sends a request with a body of 8 MiB. Resolves when it has been sent and the response has arrived. */
async function sendLargeBody(port: number): Promise<void> {
  const body = Buffer.alloc(8 * 1_048_576);
  const socket = connect(port, '127.0.0.1');
  const responded = once(socket, 'data');
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`);
  await new Promise<void>((resolve, reject) => socket.write(body, (error) => (error ? reject(error) : resolve())));
  await responded;
  socket.destroy();
}
