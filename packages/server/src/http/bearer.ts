import type { IncomingMessage } from 'node:http';

/** The token of `Authorization: Bearer <token>` (RFC 6750 2.1); null when there is none. */
export function bearerToken(request: Pick<IncomingMessage, 'headers'>): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}
