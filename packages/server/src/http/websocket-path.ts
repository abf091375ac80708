import type { IncomingMessage } from 'node:http';
import { getWebSocketBasePath, type PhoneCarrier, phoneCarriers } from '@bothost/contract';
import { readBearerToken } from './bearer.ts';

/** The agent that a WebSocket path names. */
export type QualifiedAgentName = { readonly agentName: string; readonly organizationName: string };

/** A parsed WebSocket path of an agent. `query` is forwarded to the bot. */
export type WebSocketPath = { readonly token: string | null; readonly query: string } & (
  | { readonly carrier: null; readonly host: QualifiedAgentName }
  /**
   * A connection from a phone carrier. `host` is the name of the called agent. It is null if the path contains no agent name:
   * then the carrier's start message must contain the name.
   */
  | { readonly carrier: PhoneCarrier; readonly host: QualifiedAgentName | null }
);

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
  const [path = '', queryText = ''] = (request.url ?? '').split('?', 2);
  const match = pattern.exec(path);
  if (match === null) return null;
  const query = new URLSearchParams(queryText);
  const written = decode(match[2]) ?? query.get('serviceHost');
  const token = readBearerToken(request) ?? query.get('token') ?? decode(match[3]);
  query.delete('token');
  query.delete('serviceHost');
  const rest = { token, query: queryFor(query) };
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

function queryFor(query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function decode(segment: string | undefined): string | null {
  try {
    return segment === undefined ? null : decodeURIComponent(segment);
  } catch {
    return null;
  }
}
