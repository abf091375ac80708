import type { Socket } from 'node:net';

/**
 * Calls `end` once a client has nothing left to receive and was sent nothing for this time. After the exit of a bot, its last bytes may
 * be unread for longer, because a slow client holds them back. Returns a function that stops waiting.
 */
export function endWhenIdle(client: Socket, idleMs: number, end: () => void): () => void {
  // NaN equals nothing, so that a client that still has bytes to receive is not idle.
  const countBytes = () => (client.writableLength > 0 && !client.destroyed ? Number.NaN : client.bytesWritten);
  let before = countBytes();
  const timer = setInterval(() => {
    const now = countBytes();
    if (now === before) {
      clearInterval(timer);
      end();
    }
    before = now;
  }, idleMs).unref();
  return () => clearInterval(timer);
}
