import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const discardMs = 5_000;
const pauseMs = 1;
/** Resolves when the next part may be read. Shared by all bodies, so that their total rate is limited. */
let nextRead: Promise<unknown> = Promise.resolve();

/**
 * Reads and discards the rest of a request body for up to 5 s, so that the client receives the response instead of a connection
 * reset. Pauses after each part (at most 128 KiB): without pauses, a large body delays all other requests.
 */
export function discardRequestBody(incoming: IncomingMessage): void {
  incoming.unpipe();
  if (incoming.complete) {
    incoming.resume();
    return;
  }
  const timer = setTimeout(() => incoming.complete || incoming.destroy(), discardMs).unref();
  incoming.once('close', () => clearTimeout(timer));
  let isWaiting = false;
  // Unlike the event `data`, `readable` is not affected by others that pause or resume the stream.
  incoming.on('readable', () => {
    if (isWaiting) return;
    isWaiting = true;
    nextRead = nextRead.then(() => delay(pauseMs));
    void nextRead.then(() => {
      isWaiting = false;
      incoming.read();
    });
  });
  // Marks the body as consumed. Otherwise, Node discards it without pauses when the response ends.
  incoming.read();
}
