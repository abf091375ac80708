import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Handles a request with an unsupported upgrade as if it had no upgrade (RFC 9110, section 7.8). Java's client and `curl
 * --http2`, for example, offer h2c. Node passes every upgrade to the listener for `upgrade`, so this function returns the
 * request to the server without its upgrade headers. The connection closes after the response.
 */
export function ignoreUpgrade(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  const dropped = new Set(['upgrade', 'connection', 'http2-settings', 'keep-alive']);
  let text = `${incoming.method} ${incoming.url} HTTP/1.1\r\nconnection: close\r\n`;
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = incoming.rawHeaders.slice(index, index + 2);
    if (!dropped.has(name.toLowerCase())) text += `${name}: ${value}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
