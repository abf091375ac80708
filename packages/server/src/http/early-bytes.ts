import type { Duplex } from 'node:stream';

/** Limit, in bytes. */
const earlyBytes = 65_536;

/** What a client sends before it gets a response. */
export type EarlyData = {
  /** Aborts when the client disconnects, at any time. */
  readonly gone: AbortSignal;
  /** Stops reading and returns what was read. The socket is paused. */
  readonly take: () => Buffer;
};

/** Reads a socket before the response is sent, because only reading shows that the client disconnected. */
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
