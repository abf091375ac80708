import type { Duplex } from 'node:stream';

/** What a client may send before it was answered. */
const earlyBytes = 65_536;

/** What a client sent before it was answered, and whether it is still there. */
export type Early = {
  /** Aborts when the client is gone, at any time. */
  readonly gone: AbortSignal;
  /** Ends the reading and gives what was read; the socket is paused. */
  readonly take: () => Buffer;
};

/** Reads what comes before the answer, because only a socket that is read tells that its client is gone. */
export function readEarly(socket: Duplex, head: Buffer): Early {
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
