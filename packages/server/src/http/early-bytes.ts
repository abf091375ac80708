import type { Duplex } from 'node:stream';

/** Maximum number of bytes that are read before a response. */
const earlyBytes = 65_536;

/** The bytes that a client sends before it gets a response. */
export type EarlyData = {
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
  /** Stops reading, pauses the socket, and returns the bytes read so far. */
  readonly take: () => Buffer;
};

/** Reads a socket before the response is sent, because a disconnect is noticed only while reading. */
export function readEarlyData(socket: Duplex, head: Buffer): EarlyData {
  const gone = new AbortController();
  const chunks = [head];
  let size = head.length;
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > earlyBytes) socket.destroy();
  };
  const onGone = () => gone.abort();
  socket.on('data', onData);
  socket.on('error', onGone);
  socket.once('end', onGone);
  socket.once('close', onGone);
  const take = () => {
    socket.off('data', onData);
    socket.off('end', onGone);
    socket.pause();
    return Buffer.concat(chunks);
  };
  return { gone: gone.signal, take };
}
