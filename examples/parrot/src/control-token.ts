import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether a request may use a reserved path. Every local user can reach a loopback port, so the service sends a token
 * as `authorization: Bearer` or `x-bot-control-token`. If no token is configured, every request may use reserved paths.
 */
export function hasControlToken(headers: IncomingHttpHeaders, token: string | undefined): boolean {
  if (token === undefined) return true;
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-bot-control-token']].some((value) => typeof value === 'string' && equals(value, token));
}

function equals(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
