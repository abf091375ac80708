import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { corsHeaders, isPreflight, isPublic, preflightHeaders } from './cors.ts';

const request = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  ({ url, headers, method }) as unknown as IncomingMessage;
const origin = 'https://app.example.com';
const asks = { origin, 'access-control-request-method': 'POST' };
const everybody = { origins: ['*'] };
const some = { origins: [origin] };

describe('a preflight', () => {
  it.each([
    ['of the public API', request('/v1/public/parrot/start', asks, 'OPTIONS'), true],
    ['of a session', request('/v1/public/parrot/sessions/x/y', asks, 'OPTIONS'), true],
    ['of the private API is none', request('/v1/agents', asks, 'OPTIONS'), false],
    ['with another method is none', request('/v1/public/parrot/start', asks), false],
    ['without an origin is none: it may be for the bot', request('/v1/public/x/sessions/y/z', {}, 'OPTIONS'), false],
    ['without a method is none', request('/v1/public/x/sessions/y/z', { origin }, 'OPTIONS'), false],
  ])('%s', (_, incoming, is) => {
    expect(isPreflight(incoming)).toBe(is);
  });

  it('lists all methods and allows the requested headers', () => {
    const incoming = request('/v1/public/x/start', {
      ...asks,
      'access-control-request-headers': 'authorization,x-mine',
    });
    expect(preflightHeaders(everybody, incoming)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'x-request-id, retry-after',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD',
      'access-control-allow-headers': 'authorization,x-mine',
      'access-control-max-age': '86400',
      'content-length': '0',
    });
  });
});

describe('a response of the public API', () => {
  const from = (name: string) => request('/v1/public/parrot/start', { origin: name });

  it('is readable by every origin by default, without credentials', () => {
    const headers = corsHeaders(everybody, from(origin));
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('is readable by the configured origins, with Vary', () => {
    expect(corsHeaders(some, from(origin))).toMatchObject({ 'access-control-allow-origin': origin, vary: 'origin' });
  });

  it.each(['https://evil.example.com', 'https://app.example.com.evil.org', 'null', 'http://app.example.com'])(
    'is not readable by %s if origins are configured',
    (name) => {
      expect(corsHeaders(some, from(name))).toEqual({ vary: 'origin' });
    },
  );

  it('has no CORS headers without an Origin', () => {
    expect(corsHeaders(everybody, request('/v1/public/parrot/start'))).toEqual({});
  });
});

it.each([
  ['/v1/public/parrot/start', true],
  ['/v1/publicx', false],
  ['/v1/agents', false],
  ['/', false],
])('isPublic is false for a path outside the public API: %s', (url, is) => {
  expect(isPublic(url)).toBe(is);
});
