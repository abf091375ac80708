import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether a request contains the control token, in `authorization: Bearer` or `x-bot-control-token`. Without the token,
 * every local user could control the bot through its loopback port. Returns true if no token is configured.
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
