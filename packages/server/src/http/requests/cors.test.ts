import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createCorsHeaders, createPreflightHeaders, isPreflight, isPublicPath } from './cors.ts';

const request = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  ({ url, headers, method }) as unknown as IncomingMessage;
const origin = 'https://app.example.com';
const asks = { origin, 'access-control-request-method': 'POST' };
const everybody = { origins: ['*'] };
const some = { origins: [origin] };

describe('isPreflight', () => {
  it.each([
    ['is true for the public API', request('/v1/public/parrot/start', asks, 'OPTIONS'), true],
    ['is true for a session', request('/v1/public/parrot/sessions/x/y', asks, 'OPTIONS'), true],
    ['is false for the private API', request('/v1/agents', asks, 'OPTIONS'), false],
    ['is false for another method', request('/v1/public/parrot/start', asks), false],
    [
      'is false without an origin, because the request may be for the bot',
      request('/v1/public/x/sessions/y/z', {}, 'OPTIONS'),
      false,
    ],
    ['is false without a method', request('/v1/public/x/sessions/y/z', { origin }, 'OPTIONS'), false],
  ])('%s', (_, incoming, is) => {
    expect(isPreflight(incoming)).toBe(is);
  });
});

describe('createPreflightHeaders', () => {
  it('lists all methods and allows the requested headers', () => {
    const incoming = request('/v1/public/x/start', {
      ...asks,
      'access-control-request-headers': 'authorization,x-mine',
    });
    expect(createPreflightHeaders(everybody, incoming)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD',
      'access-control-allow-headers': 'authorization,x-mine',
      'access-control-max-age': '86400',
      'content-length': '0',
    });
  });
});

describe('createCorsHeaders', () => {
  const from = (name: string) => request('/v1/public/parrot/start', { origin: name });

  it('returns headers that allow every origin by default, without credentials', () => {
    const headers = createCorsHeaders(everybody, from(origin));
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('returns headers that allow the configured origins, with `Vary: Origin`', () => {
    expect(createCorsHeaders(some, from(origin))).toMatchObject({
      'access-control-allow-origin': origin,
      vary: 'origin',
    });
  });

  it.each(['https://evil.example.com', 'https://app.example.com.evil.org', 'null', 'http://app.example.com'])(
    'returns no header that allows the origin %s if only other origins are configured',
    (name) => {
      expect(createCorsHeaders(some, from(name))).toEqual({ vary: 'origin' });
    },
  );

  it('returns no headers for a request without an Origin header', () => {
    expect(createCorsHeaders(everybody, request('/v1/public/parrot/start'))).toEqual({});
  });
});

it.each([
  ['/v1/public/parrot/start', true],
  ['/v1/publicx', false],
  ['/v1/agents', false],
  ['/', false],
])('isPublicPath returns true only for a path of the public API: %s', (url, is) => {
  expect(isPublicPath(url)).toBe(is);
});
