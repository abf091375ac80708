import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FakeImageRegistry,
  formatHttpResponse,
  type ImageRegistryRequest,
  listLeakableCredentialEncodings,
  startFakeImageRegistry,
} from '../../../test/support/fake-image-registry.ts';
import { checkCredentials } from './check-credentials.ts';
import { parseImageReference } from './image-reference.ts';
import { createImageRegistryConnectionPolicy } from './registry-policy.ts';

const credentials = 'robot$team+ci:Pa/ss:wörd?&=';
const basic = `Basic ${Buffer.from(credentials).toString('base64')}`;
const path = ({ line }: ImageRegistryRequest) => line.split(' ')[1] ?? '';
const isToken = (request: ImageRegistryRequest) => path(request).startsWith('/token');
const leaks = (registry: FakeImageRegistry) =>
  listLeakableCredentialEncodings(credentials).filter((form) => registry.bytes().includes(form));

/**
 * `other` is an attacker's server. The operator has listed its host as a registry, so only the rules for token servers prevent
 * the service from sending the credentials to `other`.
 */
describe('checkCredentials', () => {
  let registry: FakeImageRegistry;
  let other: FakeImageRegistry;
  let answer: (request: ImageRegistryRequest, socket: Socket) => string | null;
  const lookedUp: string[] = [];

  beforeEach(async () => {
    registry = await startFakeImageRegistry((request, socket) => answer(request, socket));
    other = await startFakeImageRegistry(() => formatHttpResponse(200, {}, '{"token":"stolen"}'));
    lookedUp.length = 0;
  });
  afterEach(async () => {
    await registry.close();
    await other.close();
  });

  const at = () => `http://registry.test:${registry.port}`;
  const elsewhere = () => `http://other.test:${other.port}`;
  const bearer = (realm: string, more = '') => ({ 'www-authenticate': `Bearer realm="${realm}"${more}` });
  function check(options: { image?: string; resolve?: string[][]; listed?: string[]; timeoutMs?: number } = {}) {
    const image = options.image === undefined ? null : parseImageReference(options.image, at());
    if (image !== null && 'problem' in image) throw new Error(image.problem);
    const resolve = async (host: string) => {
      lookedUp.push(host);
      return options.resolve?.[lookedUp.length - 1] ?? ['127.0.0.1'];
    };
    const policy = createImageRegistryConnectionPolicy(options.listed ?? [at(), elsewhere()], []);
    const world = { policy, resolve, timeoutMs: options.timeoutMs ?? 5_000 };
    return checkCredentials(world, at(), Buffer.from(credentials), image);
  }
  /**
   * Responds like a registry that requires tokens. `odd` can replace the response to a request; null keeps the normal response.
   */
  const withToken = (odd: (request: ImageRegistryRequest) => string | null) => (request: ImageRegistryRequest) =>
    odd(request) ??
    (isToken(request)
      ? formatHttpResponse(200, { 'content-type': 'application/json' }, '{"token":"good.token"}')
      : request.headers.get('authorization') === 'Bearer good.token'
        ? formatHttpResponse(200)
        : formatHttpResponse(401, bearer(`${at()}/token`, ',service="a&b=c"')));

  it('sends the credentials once to get a token, or with each request if the registry uses Basic', async () => {
    answer = withToken(() => null);
    expect(await check({ image: 'team/app:1' })).toMatchObject({ result: 'verified' });
    expect(registry.requests.map(({ line }) => line)).toEqual([
      'GET /v2/ HTTP/1.1',
      'GET /token?service=a%26b%3Dc&scope=repository%3Ateam%2Fapp%3Apull HTTP/1.1',
      'GET /v2/ HTTP/1.1',
      'HEAD /v2/team/app/manifests/1 HTTP/1.1',
    ]);
    expect(registry.requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      undefined,
      basic,
      'Bearer good.token',
      'Bearer good.token',
    ]);
    answer = ({ headers }) =>
      headers.get('authorization') === basic
        ? formatHttpResponse(200)
        : formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' });
    expect(await check({ image: 'app' })).toMatchObject({ result: 'verified' });
    expect(lookedUp).toEqual(['registry.test', 'registry.test']);
  });

  it.each([
    ['another host', () => `${elsewhere()}/token`],
    ['another port of the same host', () => `http://registry.test:${other.port}/token`],
    ['a URL with a user name', () => `http://me:me@registry.test:${registry.port}/token`],
    ['a host whose name begins with that of the registry', () => `http://registry.test.other.test:${other.port}/token`],
    ['not a URL', () => 'token'],
    ['a file URL', () => 'file:///etc/passwd'],
  ])('sends no credentials if the token realm is %s', async (_, realm) => {
    answer = () => formatHttpResponse(401, bearer(realm()));
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringMatching(/registry/i) });
    expect([leaks(registry), other.bytes()]).toEqual([[], '']);
  });

  it('uses Basic authentication if the token realm is forged and the registry offers both schemes', async () => {
    answer = ({ headers }) =>
      headers.has('authorization')
        ? formatHttpResponse(200)
        : formatHttpResponse(401, { 'www-authenticate': `Bearer realm="${elsewhere()}/token", Basic realm="x"` });
    expect(await check()).toMatchObject({ result: 'verified' });
    expect(other.bytes()).toBe('');
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with status %s', async (status) => {
    const away = () => formatHttpResponse(status, { location: `${elsewhere()}/v2/` });
    answer = away;
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('redirects') });
    expect(leaks(registry)).toEqual([]);
    answer = withToken((request) => (isToken(request) ? away() : null));
    expect(await check()).toMatchObject({ result: 'unreachable' });
    answer = withToken(({ headers }) => (headers.get('authorization')?.startsWith('Bearer') ? away() : null));
    expect(await check()).toMatchObject({ result: 'unreachable' });
    answer = withToken(({ line }) => (line.startsWith('HEAD') ? away() : null));
    expect(await check({ image: 'app' })).toMatchObject({ result: 'unreachable' });
    expect(other.bytes()).toBe('');
  });

  it('limits the size of a response', async () => {
    const flood = (socket: Socket, head: string) => {
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536))) {}
        if (!socket.destroyed) socket.once('drain', more);
      };
      socket.write(head);
      more();
      return null;
    };
    const head = (status: number, more = '') => `HTTP/1.1 ${status} X\r\n${more}\r\n`;
    answer = (request, socket) =>
      isToken(request)
        ? flood(socket, head(200))
        : flood(socket, head(401, `www-authenticate: Bearer realm="${at()}/token"\r\n`));
    expect(await check()).toEqual({ result: 'unreachable', message: 'The response is too large for a registry.' });
    answer = (_, socket) => flood(socket, 'HTTP/1.1 200 X\r\nx: ');
    expect(await check()).toEqual({ result: 'unreachable', message: 'The response is too large for a registry.' });
    answer = (_, socket) => flood(socket, head(500));
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('500') });
  });

  it('returns unreachable if a response exceeds the time limit', async () => {
    const late = { result: 'unreachable', message: 'The registry did not answer within 0.3 s.' };
    answer = () => null;
    expect(await check({ timeoutMs: 300 })).toEqual(late);
    answer = withToken((request) => (isToken(request) ? 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{"' : null));
    expect(await check({ timeoutMs: 300 })).toEqual(late);
    answer = (_, socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 X\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
      return null;
    };
    expect(await check({ timeoutMs: 300 })).toEqual(late);
  });

  it('returns unreachable if the host name is not resolved, or not in time', async () => {
    const policy = createImageRegistryConnectionPolicy([at()], []);
    const ask = (resolve: () => Promise<string[]>) =>
      checkCredentials({ policy, resolve, timeoutMs: 300 }, at(), Buffer.from(credentials), null);
    expect(await ask(() => new Promise(() => {}))).toMatchObject({ message: expect.stringContaining('within 0.3 s') });
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(await ask(() => Promise.reject(unknown))).toMatchObject({
      result: 'unreachable',
      message: expect.stringContaining('host name does not exist'),
    });
    expect(registry.requests).toEqual([]);
  });

  it('resolves the host name of a registry only once', async () => {
    answer = withToken(() => null);
    const trap = await startFakeImageRegistry(() => formatHttpResponse(200), '127.0.0.2', registry.port);
    try {
      expect(await check({ resolve: [['127.0.0.1'], ['127.0.0.2']] })).toMatchObject({ result: 'verified' });
      expect([lookedUp, trap.bytes()]).toEqual([['registry.test'], '']);
    } finally {
      await trap.close();
    }
  });

  it.each([[['127.0.0.1']], [['93.184.216.34', '127.0.0.1']], [['::ffff:127.0.0.1']], [['169.254.169.254']], [[]]])(
    'does not connect to a registry that is not in BOTHOST_REGISTRIES and resolves to %j',
    async (addresses) => {
      answer = () => formatHttpResponse(200);
      const policy = createImageRegistryConnectionPolicy([`http://another.test:${registry.port}`], []);
      const plain = new Set([`registry.test:${registry.port}`]);
      const world = { policy: { ...policy, plain }, resolve: async () => addresses, timeoutMs: 5_000 };
      expect(await checkCredentials(world, at(), Buffer.from(credentials), null)).toMatchObject({
        result: 'skipped',
        message: expect.stringContaining('BOTHOST_REGISTRIES'),
      });
      expect(registry.requests).toEqual([]);
    },
  );

  it('does not connect to an unlisted registry on a private address or without TLS', async () => {
    answer = () => formatHttpResponse(200);
    const world = {
      policy: createImageRegistryConnectionPolicy([], []),
      resolve: async () => ['127.0.0.1'],
      timeoutMs: 5_000,
    };
    for (const host of [`127.0.0.1:${registry.port}`, `localhost:${registry.port}`, at(), '169.254.169.254']) {
      expect(await checkCredentials(world, host, Buffer.from(credentials), null)).toMatchObject({ result: 'skipped' });
    }
    expect(registry.requests).toEqual([]);
  });

  it('does not connect to a registry that the operator listed if its host name resolves to a cloud metadata address', async () => {
    answer = () => formatHttpResponse(200);
    expect(await check({ resolve: [['169.254.169.254']] })).toMatchObject({ result: 'skipped' });
  });

  it('gives up after three requests if the registry keeps asking for a token', async () => {
    answer = withToken((request) => (isToken(request) ? null : formatHttpResponse(401, bearer(`${at()}/token`))));
    expect(await check({ image: 'app' })).toMatchObject({ result: 'rejected' });
    expect(registry.requests).toHaveLength(3);
  });

  it('sends no password if the registry asks for Basic after it issued a token', async () => {
    answer = withToken(({ headers }) =>
      headers.get('authorization') === 'Bearer good.token'
        ? formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' })
        : null,
    );
    expect(await check()).toMatchObject({ result: 'rejected' });
    expect(registry.requests.filter(({ headers }) => headers.get('authorization') === basic).map(path)).toEqual([
      '/token?service=a%26b%3Dc',
    ]);
  });

  it.each([
    ['text/html', '<html>sign in</html>'],
    ['application/json', '{"token":5}'],
    ['application/json', '{"token":"a\\r\\nx: y"}'],
    ['application/json', '{"token":""}'],
    ['application/json', 'null'],
    ['application/json', '{"token":"ünicode"}'],
    ['image/png', '\u0089PNG'],
  ])('rejects a token response of type %s with the body %j', async (type, body) => {
    answer = withToken((request) =>
      isToken(request) ? formatHttpResponse(200, { 'content-type': type }, body) : null,
    );
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('no token') });
  });

  it.each([
    [() => formatHttpResponse(404), 'unreachable', /answers 404/],
    [() => formatHttpResponse(403), 'unreachable', /answers 403/],
    [() => formatHttpResponse(429, { 'retry-after': '30' }), 'unreachable', /in 30 s/],
    [
      () => formatHttpResponse(429, { 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' }),
      'unreachable',
      /after 2026-11-20T12:00:00/,
    ],
    [() => formatHttpResponse(429, { 'retry-after': '[red]' }), 'unreachable', /Try again later/],
    [() => formatHttpResponse(503), 'unreachable', /answers 503/],
    [() => formatHttpResponse(401), 'unreachable', /does not support/],
    [() => formatHttpResponse(401, { 'www-authenticate': 'Negotiate abc==' }), 'unreachable', /does not support/],
    [() => formatHttpResponse(200), 'skipped', /requires no credentials/],
    [() => 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'unreachable', /connection was lost/],
    [() => formatHttpResponse(204), 'unreachable', /answers 204/],
  ])('maps the registry response %s to the verdict %s', async (line, result, message) => {
    answer = line;
    expect(await check()).toEqual({ result, message: expect.stringMatching(message) });
    expect(leaks(registry)).toEqual([]);
  });

  it('returns unreachable if the connection or the port is closed', async () => {
    answer = (_, socket) => {
      socket.destroy();
      return null;
    };
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('was lost') });
    const { port } = registry;
    await registry.close();
    expect(await check()).toEqual({ result: 'unreachable', message: 'No server is listening at this host and port.' });
    registry = await startFakeImageRegistry(() => null, '127.0.0.1', port);
  });

  it.each([
    [200, 'verified'],
    [404, 'rejected'],
    [401, 'rejected'],
    [403, 'rejected'],
    [429, 'unreachable'],
    [307, 'unreachable'],
  ])('maps status %s of the image request to %s if the credentials are valid', async (status, result) => {
    answer = withToken(({ line }) => (line.startsWith('HEAD') ? formatHttpResponse(status) : null));
    expect(await check({ image: 'team/app:1' })).toMatchObject({ result });
  });

  it.each([
    [200, 'skipped', /requires no credentials, so/],
    [404, 'skipped', /does not have team\/app:1/],
    [401, 'verified', /they may pull team\/app:1/],
  ])(
    'maps status %s of the image request to %s if the registry requires no authentication',
    async (status, result, message) => {
      answer = ({ line, headers }) => {
        if (line.startsWith('GET') || headers.get('authorization') === basic) return formatHttpResponse(200);
        return formatHttpResponse(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {});
      };
      expect(await check({ image: 'team/app:1' })).toEqual({ result, message: expect.stringMatching(message) });
    },
  );

  it('returns a verdict that contains no text from the registry', async () => {
    const echo = `${credentials} ${basic} [red]`;
    answer = ({ headers }) =>
      headers.has('authorization')
        ? formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"', 'x-echo': basic }, echo)
        : formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' }, echo);
    const verdict = JSON.stringify(await check());
    for (const form of listLeakableCredentialEncodings(credentials)) expect(verdict).not.toContain(form);
    expect(verdict).not.toContain('[');
  });
});
