import type { IncomingMessage } from 'node:http';

/**
 * Returns the bearer token of a request. Null if there is none, or if there are several Authorization headers: a proxy
 * may have checked a different header than the service would read (RFC 9110, section 5.3).
 */
export function readBearerToken(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | null {
  if (hasMultipleAuthorizationHeaders(request)) return null;
  const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

export function hasMultipleAuthorizationHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') seen += 1;
  }
  return seen > 1;
}
