import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isServiceHeader, sessionHeaders } from '../sessions/bot-headers.ts';

/** RFC 9110 7.6.1: for one connection only. */
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

/** Ours to know, not the bot's (bot contract 2.12). `expect` is answered by the service's own HTTP server. */
const kept = new Set(['host', 'authorization', 'content-length', 'expect']);

/** What a bot gets of a client's headers: nothing that names the hop, the key, or what only the service may say. */
export function headersForBot(headers: IncomingHttpHeaders, sessionId: string): Record<string, string | string[]> {
  const nominated = nominatedBy(headers.connection);
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (hopByHop.has(name) || kept.has(name) || nominated.has(name) || isServiceHeader(name)) continue;
    result[name] = value;
  }
  return Object.assign(result, sessionHeaders(sessionId));
}

/** A bot shares the service's origin, so it may say nothing that holds for all of it. CORS is the service's to grant. */
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

/** Whether a header of a bot's answer goes on to the client, on upgrades too. `name` in lower case. */
export function isForClient(name: string): boolean {
  return !hopByHop.has(name) && !originWide.has(name) && !name.startsWith('access-control-');
}

/** What a client gets of a bot's headers. Pages of a bot are shown in a sandbox, without access to the origin. */
export function headersForClient(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const nominated = nominatedBy(headers.connection);
  const result: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isForClient(name) && !nominated.has(name)) result[name] = value;
  }
  result['content-security-policy'] = 'sandbox';
  result['x-content-type-options'] = 'nosniff';
  return result;
}

const none: ReadonlySet<string> = new Set();

/** Headers that a message declares to be for this connection only. */
function nominatedBy(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive') return none;
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
}
