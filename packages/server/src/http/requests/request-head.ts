import type { IncomingMessage } from 'node:http';
import { type ApiError, createApiError } from '@bothost/contract';

/** Maximum number of header lines. Node's `maxHeadersCount` must be 0 (off), because it silently drops lines. */
const headerLinesAtMost = 1_000;
/** A host name, or an address in square brackets, with an optional port (RFC 9110, section 7.2). */
const hostPattern = /^(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d*)?$/i;
const absoluteForm = /^https?:\/\/[^/?#]*/i;

export function isValidHost(text: string): boolean {
  return hostPattern.test(text);
}

/** The error of a malformed request head, or null. Rewrites an absolute target (RFC 9112, section 3.2.2) to a path. */
export function checkRequestHead(incoming: IncomingMessage): ApiError | null {
  const { rawHeaders, httpVersion, url = '' } = incoming;
  if (rawHeaders.length > 2 * headerLinesAtMost) return createApiError('headers-too-large');
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  // RFC 9112, section 3.2, requires exactly one Host header. If there are several, a proxy may have checked a different
  // one than the service reads.
  const isMissing = hosts === 0 && httpVersion !== '1.0';
  if (isMissing || hosts > 1 || !isValidHost(incoming.headers.host ?? '')) {
    return createApiError('invalid-request', { message: 'The request must have one valid Host header.' });
  }
  if (!url.startsWith('/')) incoming.url = url.replace(absoluteForm, '').replace(/^(?=$|\?)/, '/');
  return null;
}
