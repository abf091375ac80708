import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when the server or the connection closes before the response is sent. */
export function createCancelSignal(response: ServerResponse, closing: AbortSignal): AbortSignal {
  if (response.closed || closing.aborted) return AbortSignal.abort();
  const cancel = new AbortController();
  const abort = () => cancel.abort();
  // `AbortSignal.any` would leak memory, because `closing` lives as long as the server
  // (https://github.com/nodejs/node/issues/64476).
  closing.addEventListener('abort', abort);
  response.once('close', () => {
    closing.removeEventListener('abort', abort);
    abort();
  });
  return cancel.signal;
}
