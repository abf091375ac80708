import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Tells whether a request may use a reserved path. Loopback is open to every local user, therefore the service gives
 * each instance a token and sends it either as `authorization: Bearer` or as `x-bot-control-token`
 * (bot contract 2.4 and 3.2). Without a token everyone may.
 */
export function mayControl(headers: IncomingHttpHeaders, token: string | undefined): boolean {
  if (token === undefined) return true;
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-bot-control-token']].some((given) => typeof given === 'string' && same(given, token));
}

function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
