import type { Duplex } from 'node:stream';

/** Maximum number of bytes that are read from a socket before its request has a response. */
const earlyBytes = 65_536;

/** The bytes that a client sends before it gets a response, for example to its WebSocket handshake. */
export type ClientBytesBeforeResponse = {
  readonly disconnected: AbortSignal;
  /** Stops reading, pauses the socket, and returns the bytes read so far. */
  readonly take: () => Buffer;
};

/**
 * Reads from a socket while its request has no response yet, because only reading reveals that the client disconnects.
 */
export function readClientBytesBeforeResponse(socket: Duplex, head: Buffer): ClientBytesBeforeResponse {
  const disconnect = new AbortController();
  const chunks = [head];
  let size = head.length;
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > earlyBytes) socket.destroy();
  };
  const onDisconnect = () => disconnect.abort();
  socket.on('data', onData);
  socket.on('error', onDisconnect);
  socket.once('end', onDisconnect);
  socket.once('close', onDisconnect);
  const take = () => {
    socket.off('data', onData);
    socket.off('end', onDisconnect);
    socket.pause();
    return Buffer.concat(chunks);
  };
  return { disconnected: disconnect.signal, take };
}
