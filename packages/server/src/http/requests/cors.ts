import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { proxyHttpMethods, publicApiBasePath } from '@bothost/contract';

/**
 * Origins whose pages may read the public API: all (`*`), or only the listed origins. Credentials are never allowed.
 */
export type CorsPolicy = { readonly origins: readonly string[] };

const day = '86400';

/** Whether a request is a CORS preflight (Fetch standard), which requires no key. */
export function isPreflight(request: IncomingMessage): boolean {
  const { headers, method, url } = request;
  const asks = headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
  return method === 'OPTIONS' && asks && isPublicPath(url ?? '');
}

export function isPublicPath(url: string): boolean {
  return url.startsWith(`${publicApiBasePath}/`);
}

/** Headers that allow pages of other origins to read a response of the public API. */
export function createCorsHeaders(policy: CorsPolicy, request: IncomingMessage): OutgoingHttpHeaders {
  const { origin } = request.headers;
  const all = policy.origins.includes('*');
  if (origin === undefined) return all ? {} : { vary: 'origin' };
  if (!all && !policy.origins.includes(origin)) return { vary: 'origin' };
  return {
    'access-control-allow-origin': all ? '*' : origin,
    // All headers, those of the bot included. As credentials are never allowed, browsers accept the wildcard.
    'access-control-expose-headers': '*',
    ...(all ? {} : { vary: 'origin' }),
  };
}

export function createPreflightHeaders(policy: CorsPolicy, request: IncomingMessage): OutgoingHttpHeaders {
  return {
    ...createCorsHeaders(policy, request),
    'access-control-allow-methods': proxyHttpMethods.join(', '),
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? 'authorization, content-type',
    'access-control-max-age': day,
    'content-length': '0',
  };
}
