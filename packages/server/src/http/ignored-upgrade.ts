import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Answers a request for an upgrade that is not offered as if it had not asked (RFC 9110 7.8): Java's client asks for h2c
 * with each first request, curl with `--http2`. Node hands every upgrade over when any is taken, so the request is given
 * back to the server without what concerns the upgrade, on the same connection, which ends with the answer.
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
