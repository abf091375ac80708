import type { IncomingMessage } from 'node:http';
import { getWebSocketBasePath, type PhoneCarrier, phoneCarriers } from '@bothost/contract';
import { readBearerToken } from '../requests/bearer.ts';
import { findQueryField, removeQueryFields } from '../requests/query-fields.ts';

export type QualifiedAgentName = { readonly agentName: string; readonly organizationName: string };

/** A parsed WebSocket path of an agent. `query` is for the bot, and contains the token if it is sent in the query. */
export type WebSocketPath = { readonly token: string | null; readonly query: string } & (
  | { readonly carrier: null; readonly host: QualifiedAgentName }
  /** A phone carrier. `host` is the called agent, or null if only the carrier's start message names it. */
  | { readonly carrier: PhoneCarrier; readonly host: QualifiedAgentName | null }
);

const hostField = 'serviceHost';
const tokenField = 'token';
const targetPattern = /^([^?#]*)(\?[^#]*)?/;
const bases = [null, ...phoneCarriers].map(getWebSocketBasePath);
const pattern = new RegExp(`^(${bases.join('|')})(?:/([^/]+))?(?:/([^/]+))?/?$`);

/**
 * Parses `/ws/generic` and the paths of phone carriers, followed by `/{agent}.{org}[/{token}]` or
 * `?serviceHost={agent}.{org}`. `/ws/twilio` alone is valid too, because Twilio drops queries. The token is in the
 * `Authorization` header, else in `?token=`, else in the last path segment. Returns null for any other path.
 */
export function parseWebSocketPath(
  request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>,
): WebSocketPath | null {
  const [, path = '', query = ''] = targetPattern.exec(request.url ?? '') ?? [];
  const match = pattern.exec(path);
  if (match === null) return null;
  const written = decode(match[2]) ?? findQueryField(query, hostField);
  const token = readBearerToken(request) ?? findQueryField(query, tokenField) ?? decode(match[3]);
  const rest = { token, query: removeQueryFields(query, hostField) };
  const carrier = phoneCarriers.find((name) => getWebSocketBasePath(name) === match[1]) ?? null;
  if (carrier === 'twilio' && written === null) return { ...rest, carrier, host: null };
  const host = parseQualifiedAgentName(written ?? '');
  return host === null ? null : { ...rest, carrier, host };
}

/** Parses `{agent}.{org}`; neither name contains a dot. */
export function parseQualifiedAgentName(text: string): QualifiedAgentName | null {
  const [agentName = '', organizationName = '', ...rest] = text.split('.');
  if (agentName === '' || organizationName === '' || rest.length > 0) return null;
  return { agentName, organizationName };
}

/** Removes the token from the query of a path, for a bot whose service has checked the token. */
export function removeTokenFromQuery(query: string): string {
  return removeQueryFields(query, tokenField);
}

function decode(segment: string | undefined): string | null {
  try {
    return segment === undefined ? null : decodeURIComponent(segment);
  } catch {
    return null;
  }
}
