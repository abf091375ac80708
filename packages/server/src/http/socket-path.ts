import type { IncomingMessage } from 'node:http';
import { bearerToken } from './bearer.ts';

/** A WebSocket client of an agent (bot contract 4.3). `query` is what the bot gets. */
export type SocketPath = {
  readonly agentName: string;
  readonly organizationName: string;
  readonly token: string | null;
  readonly query: string;
};

/**
 * Reads `/ws/generic/{agent}.{org}[/{token}]` and `/ws/generic?serviceHost={agent}.{org}`. The token is taken from the
 * `Authorization` header, else `?token=`, else the last path segment. Null: not such a path.
 */
export function parseSocketPath(request: Pick<IncomingMessage, 'url' | 'headers'>): SocketPath | null {
  const [path = '', queryText = ''] = (request.url ?? '').split('?', 2);
  const match = /^\/ws\/generic(?:\/([^/]+))?(?:\/([^/]+))?\/?$/.exec(path);
  if (match === null) return null;
  const query = new URLSearchParams(queryText);
  // Neither agent nor organization names hold a dot.
  const target = decode(match[1]) ?? query.get('serviceHost') ?? '';
  const [agentName = '', organizationName = '', ...rest] = target.split('.');
  if (agentName === '' || organizationName === '' || rest.length > 0) return null;
  const token = bearerToken(request) ?? query.get('token') ?? decode(match[2]);
  query.delete('token');
  query.delete('serviceHost');
  return { agentName, organizationName, token, query: queryFor(query) };
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
