import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { webSocketProbePath } from '@bothost/contract';
import { type ServerOptions, WebSocketServer } from 'ws';

/** Milliseconds to wait for the client's side of the closing handshake. */
const closeMs = 2_000;

/** Accepts a WebSocket at `webSocketProbePath` and closes it, to show that proxies pass it on. False for other paths. */
export function createProbeSocket(): (incoming: IncomingMessage, socket: Duplex, head: Buffer) => boolean {
  // Widen the type to `object`, because the types of `ws` do not declare the option `closeTimeout`.
  const timeouts: object = { closeTimeout: closeMs };
  const options: ServerOptions = { ...timeouts, noServer: true, perMessageDeflate: false, maxPayload: 125 };
  const server = new WebSocketServer(options);
  return (incoming, socket, head) => {
    if (incoming.url !== webSocketProbePath) return false;
    server.handleUpgrade(incoming, socket, head, (client) => {
      client.on('error', () => client.terminate());
      client.close(1000);
    });
    return true;
  };
}
