import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { createSessionHeaders, isReservedHeader } from '../../sessions/bot-headers.ts';
import type { RequestClient } from './request-client.ts';

/** Connection headers (RFC 9110 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers of the client that are not forwarded to bots. The service's HTTP server handles `expect` itself. A browser sends the
 * cookie of a signed-in person's session with every request to this origin, and bots cannot set cookies.
 */
const kept = new Set(['host', 'authorization', 'cookie', 'content-length', 'expect']);

/** Proxy headers, which the service sets and does not forward. Matches `_` like `-`, because some bot servers do. */
const ofProxies = /^(?:forwarded|x[-_]real[-_]ip|x[-_]forwarded[-_].*)$/;

/** Headers for the bot: without connection headers, key and reserved headers, with session id and `X-Forwarded-...`. */
export function createBotRequestHeaders(
  headers: IncomingHttpHeaders,
  sessionId: string,
  client: RequestClient,
): Record<string, string | string[]> {
  const nominated = nominatedBy(headers.connection);
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (hopByHop.has(name) || kept.has(name) || nominated.has(name)) continue;
    if (isReservedHeader(name) || ofProxies.test(name)) continue;
    result[name] = value;
  }
  const [protocol = '', , host = ''] = client.serviceUrl.split('/', 3);
  return Object.assign(result, createSessionHeaders(sessionId), {
    'x-forwarded-for': client.address,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
  });
}

/** Headers that apply to the whole origin. A bot may not set these, because it shares the service's origin. */
const originWide = new Set([
  'set-cookie',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'service-worker-allowed',
  'report-to',
  'reporting-endpoints',
  'nel',
]);

/** Whether a header of a bot's response is forwarded to the client. `name` must be in lower case. */
export function isResponseHeaderForwarded(name: string): boolean {
  return !hopByHop.has(name) && !originWide.has(name) && !name.startsWith('access-control-');
}

/** Headers for the client. Sandboxes the bot's pages, so that they have no access to the service's origin. */
export function createClientResponseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const nominated = nominatedBy(headers.connection);
  const result: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isResponseHeaderForwarded(name) && !nominated.has(name)) result[name] = value;
  }
  result['content-security-policy'] = 'sandbox';
  result['x-content-type-options'] = 'nosniff';
  return result;
}

const none: ReadonlySet<string> = new Set();

/** The names of headers that the Connection header declares as connection headers. */
function nominatedBy(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive') return none;
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
}
