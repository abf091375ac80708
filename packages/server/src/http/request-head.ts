import type { IncomingMessage } from 'node:http';
import { type ApiError, failure } from '@bothost/contract';

/** Node's parser drops the lines beyond its own limit silently, so `maxHeadersCount` must be off. */
const headerLinesAtMost = 1_000;
/** A registered name, or an address in square brackets, and a port (RFC 9110 7.2). */
const hostPattern = /^(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d*)?$/i;
const absoluteForm = /^https?:\/\/[^/?#]*/i;

export function isHost(text: string): boolean {
  return hostPattern.test(text);
}

/**
 * Checks what Node's parser accepts, and rewrites a target in absolute form (RFC 9112 3.2.2) to a path. Returns the problem
 * of the request, else null. Call it before anything reads `incoming.url`.
 */
export function checkHead(incoming: IncomingMessage): ApiError | null {
  const { rawHeaders, httpVersion, url = '' } = incoming;
  if (rawHeaders.length > 2 * headerLinesAtMost) return failure('headers-too-large');
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  // RFC 9112 3.2: a proxy may have checked another Host than this service would use.
  const isMissing = hosts === 0 && httpVersion !== '1.0';
  if (isMissing || hosts > 1 || !isHost(incoming.headers.host ?? '')) {
    return failure('invalid-request', { message: 'The request must have one valid Host header.' });
  }
  if (!url.startsWith('/')) incoming.url = url.replace(absoluteForm, '').replace(/^(?=$|\?)/, '/');
  return null;
}
