import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, formsOf, reply, type StandIn, standIn } from '../../../test/support/fake-registry.ts';
import { checkCredentials } from './check-credentials.ts';
import { imageReference } from './image-reference.ts';
import { createRegistryPolicy } from './registry-policy.ts';

const credentials = 'robot$team+ci:Pa/ss:wörd?&=';
const basic = `Basic ${Buffer.from(credentials).toString('base64')}`;
const path = ({ line }: Asked) => line.split(' ')[1] ?? '';
const isToken = (asked: Asked) => path(asked).startsWith('/token');
const leaks = (place: StandIn) => formsOf(credentials).filter((form) => place.bytes().includes(form));

/** The registry, and somebody else on another port, whom the operator listed just as well: only the rules keep them apart. */
describe('a registry that', () => {
  let registry: StandIn;
  let other: StandIn;
  let answer: (asked: Asked, socket: Socket) => string | null;
  const lookedUp: string[] = [];

  beforeEach(async () => {
    registry = await standIn((asked, socket) => answer(asked, socket));
    other = await standIn(() => reply(200, {}, '{"token":"stolen"}'));
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
    const image = options.image === undefined ? null : imageReference(options.image, at());
    if (image !== null && 'problem' in image) throw new Error(image.problem);
    const resolve = async (host: string) => {
      lookedUp.push(host);
      return options.resolve?.[lookedUp.length - 1] ?? ['127.0.0.1'];
    };
    const policy = createRegistryPolicy(options.listed ?? [at(), elsewhere()], []);
    const world = { policy, resolve, timeoutMs: options.timeoutMs ?? 5_000 };
    return checkCredentials(world, at(), Buffer.from(credentials), image);
  }
  /** Well-behaved but for what `odd` answers. */
  const withToken = (odd: (asked: Asked) => string | null) => (asked: Asked) =>
    odd(asked) ??
    (isToken(asked)
      ? reply(200, { 'content-type': 'application/json' }, '{"token":"good.token"}')
      : asked.headers.get('authorization') === 'Bearer good.token'
        ? reply(200)
        : reply(401, bearer(`${at()}/token`, ',service="a&b=c"')));

  it('behaves gets the credentials once, for a token, or each time where it asks for Basic', async () => {
    answer = withToken(() => null);
    expect(await check({ image: 'team/app:1' })).toMatchObject({ result: 'verified' });
    expect(registry.asked.map(({ line }) => line)).toEqual([
      'GET /v2/ HTTP/1.1',
      'GET /token?service=a%26b%3Dc&scope=repository%3Ateam%2Fapp%3Apull HTTP/1.1',
      'GET /v2/ HTTP/1.1',
      'HEAD /v2/team/app/manifests/1 HTTP/1.1',
    ]);
    expect(registry.asked.map(({ headers }) => headers.get('authorization'))).toEqual([
      undefined,
      basic,
      'Bearer good.token',
      'Bearer good.token',
    ]);
    answer = ({ headers }) =>
      headers.get('authorization') === basic ? reply(200) : reply(401, { 'www-authenticate': 'Basic realm="x"' });
    expect(await check({ image: 'app' })).toMatchObject({ result: 'verified' });
    expect(lookedUp).toEqual(['registry.test', 'registry.test']);
  });

  it.each([
    ['another host', () => `${elsewhere()}/token`],
    ['another port of the same host', () => `http://registry.test:${other.port}/token`],
    ['a user name in it', () => `http://me:me@registry.test:${registry.port}/token`],
    ['a host that only begins like it', () => `http://registry.test.other.test:${other.port}/token`],
    ['no address at all', () => 'token'],
    ['a file', () => 'file:///etc/passwd'],
  ])('forges its realm, %s, gets nothing, and nobody else does', async (_, realm) => {
    answer = () => reply(401, bearer(realm()));
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringMatching(/registry/i) });
    expect([leaks(registry), other.bytes()]).toEqual([[], '']);
  });

  it('forges its realm, and asks for Basic as well, gets them itself', async () => {
    answer = ({ headers }) =>
      headers.has('authorization')
        ? reply(200)
        : reply(401, { 'www-authenticate': `Bearer realm="${elsewhere()}/token", Basic realm="x"` });
    expect(await check()).toMatchObject({ result: 'verified' });
    expect(other.bytes()).toBe('');
  });

  it.each([301, 302, 303, 307, 308])('sends elsewhere by %s, anywhere, is not followed', async (status) => {
    const away = () => reply(status, { location: `${elsewhere()}/v2/` });
    answer = away;
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('sends elsewhere') });
    expect(leaks(registry)).toEqual([]);
    answer = withToken((asked) => (isToken(asked) ? away() : null));
    expect(await check()).toMatchObject({ result: 'unreachable' });
    answer = withToken(({ headers }) => (headers.get('authorization')?.startsWith('Bearer') ? away() : null));
    expect(await check()).toMatchObject({ result: 'unreachable' });
    answer = withToken(({ line }) => (line.startsWith('HEAD') ? away() : null));
    expect(await check({ image: 'app' })).toMatchObject({ result: 'unreachable' });
    expect(other.bytes()).toBe('');
  });

  it('answers for ever is cut off', async () => {
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
    answer = (asked, socket) =>
      isToken(asked)
        ? flood(socket, head(200))
        : flood(socket, head(401, `www-authenticate: Bearer realm="${at()}/token"\r\n`));
    expect(await check()).toEqual({ result: 'unreachable', message: 'Its answer is larger than that of a registry.' });
    answer = (_, socket) => flood(socket, 'HTTP/1.1 200 X\r\nx: ');
    expect(await check()).toEqual({ result: 'unreachable', message: 'Its answer is larger than that of a registry.' });
    answer = (_, socket) => flood(socket, head(500));
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('500') });
  });

  it('answers slowly, or not at all, is given up', async () => {
    const late = { result: 'unreachable', message: 'The registry did not answer within 0.3 s.' };
    answer = () => null;
    expect(await check({ timeoutMs: 300 })).toEqual(late);
    answer = withToken((asked) => (isToken(asked) ? 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{"' : null));
    expect(await check({ timeoutMs: 300 })).toEqual(late);
    answer = (_, socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 X\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
      return null;
    };
    expect(await check({ timeoutMs: 300 })).toEqual(late);
  });

  it('has a name that nobody resolves in time, or at all, is told as that', async () => {
    const policy = createRegistryPolicy([at()], []);
    const ask = (resolve: () => Promise<string[]>) =>
      checkCredentials({ policy, resolve, timeoutMs: 300 }, at(), Buffer.from(credentials), null);
    expect(await ask(() => new Promise(() => {}))).toMatchObject({ message: expect.stringContaining('within 0.3 s') });
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(await ask(() => Promise.reject(unknown))).toMatchObject({
      result: 'unreachable',
      message: expect.stringContaining('no host of this name'),
    });
    expect(registry.asked).toEqual([]);
  });

  it('has a name that turns to another address at the second look-up is asked at the first one', async () => {
    answer = withToken(() => null);
    const trap = await standIn(() => reply(200), '127.0.0.2', registry.port);
    try {
      expect(await check({ resolve: [['127.0.0.1'], ['127.0.0.2']] })).toMatchObject({ result: 'verified' });
      expect([lookedUp, trap.bytes()]).toEqual([['registry.test'], '']);
    } finally {
      await trap.close();
    }
  });

  it.each([[['127.0.0.1']], [['93.184.216.34', '127.0.0.1']], [['::ffff:127.0.0.1']], [['169.254.169.254']], [[]]])(
    'lies at %j and is not listed is not connected to',
    async (addresses) => {
      answer = () => reply(200);
      const policy = createRegistryPolicy([`http://another.test:${registry.port}`], []);
      const plain = new Set([`registry.test:${registry.port}`]);
      const world = { policy: { ...policy, plain }, resolve: async () => addresses, timeoutMs: 5_000 };
      expect(await checkCredentials(world, at(), Buffer.from(credentials), null)).toMatchObject({
        result: 'skipped',
        message: expect.stringContaining('BOTHOST_REGISTRIES'),
      });
      expect(registry.asked).toEqual([]);
    },
  );

  it('is an address and not listed is not connected to either, nor is one without TLS', async () => {
    answer = () => reply(200);
    const world = { policy: createRegistryPolicy([], []), resolve: async () => ['127.0.0.1'], timeoutMs: 5_000 };
    for (const host of [`127.0.0.1:${registry.port}`, `localhost:${registry.port}`, at(), '169.254.169.254']) {
      expect(await checkCredentials(world, host, Buffer.from(credentials), null)).toMatchObject({ result: 'skipped' });
    }
    expect(registry.asked).toEqual([]);
  });

  it('is listed, but by its name leads to where a machine is told about itself, is not asked', async () => {
    answer = () => reply(200);
    expect(await check({ resolve: [['169.254.169.254']] })).toMatchObject({ result: 'skipped' });
  });

  it('refuses for ever is asked a few times only', async () => {
    answer = withToken((asked) => (isToken(asked) ? null : reply(401, bearer(`${at()}/token`))));
    expect(await check({ image: 'app' })).toMatchObject({ result: 'rejected' });
    expect(registry.asked).toHaveLength(3);
  });

  it('asks for Basic after it gave a token does not get them', async () => {
    answer = withToken(({ headers }) =>
      headers.get('authorization') === 'Bearer good.token'
        ? reply(401, { 'www-authenticate': 'Basic realm="x"' })
        : null,
    );
    expect(await check()).toMatchObject({ result: 'rejected' });
    expect(registry.asked.filter(({ headers }) => headers.get('authorization') === basic).map(path)).toEqual([
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
  ])('gives %s, %j, for a token gives none', async (type, body) => {
    answer = withToken((asked) => (isToken(asked) ? reply(200, { 'content-type': type }, body) : null));
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('no token') });
  });

  it.each([
    [() => reply(404), 'unreachable', /answers 404/],
    [() => reply(403), 'unreachable', /answers 403/],
    [() => reply(429, { 'retry-after': '30' }), 'unreachable', /in 30 s/],
    [() => reply(429, { 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' }), 'unreachable', /after 2026-11-20T12:00:00/],
    [() => reply(429, { 'retry-after': '[red]' }), 'unreachable', /Try again later/],
    [() => reply(503), 'unreachable', /answers 503/],
    [() => reply(401), 'unreachable', /does not know/],
    [() => reply(401, { 'www-authenticate': 'Negotiate abc==' }), 'unreachable', /does not know/],
    [() => reply(200), 'skipped', /asks nobody/],
    [() => 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'unreachable', /connection broke/],
    [() => reply(204), 'unreachable', /answers 204/],
  ])('answers %s is told as what it is', async (line, result, message) => {
    answer = line;
    expect(await check()).toEqual({ result, message: expect.stringMatching(message) });
    expect(leaks(registry)).toEqual([]);
  });

  it('hangs up, or is not there, is told as that', async () => {
    answer = (_, socket) => {
      socket.destroy();
      return null;
    };
    expect(await check()).toMatchObject({ result: 'unreachable', message: expect.stringContaining('broke') });
    const { port } = registry;
    await registry.close();
    expect(await check()).toEqual({ result: 'unreachable', message: 'Nothing answers at this host and port.' });
    registry = await standIn(() => null, '127.0.0.1', port);
  });

  it.each([
    [200, 'verified'],
    [404, 'rejected'],
    [401, 'rejected'],
    [403, 'rejected'],
    [429, 'unreachable'],
    [307, 'unreachable'],
  ])('takes the credentials and answers %s for the image means %s', async (status, result) => {
    answer = withToken(({ line }) => (line.startsWith('HEAD') ? reply(status) : null));
    expect(await check({ image: 'team/app:1' })).toMatchObject({ result });
  });

  it.each([
    [200, 'skipped', /asks nobody for credentials, so/],
    [404, 'skipped', /shows no team\/app:1/],
    [401, 'verified', /they may pull team\/app:1/],
  ])(
    'is open to all, and answers %s for the image without credentials, is told as %s',
    async (status, result, message) => {
      answer = ({ line, headers }) => {
        if (line.startsWith('GET') || headers.get('authorization') === basic) return reply(200);
        return reply(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {});
      };
      expect(await check({ image: 'team/app:1' })).toEqual({ result, message: expect.stringMatching(message) });
    },
  );

  it('says what it was sent says it to nobody here', async () => {
    const echo = `${credentials} ${basic} [red]`;
    answer = ({ headers }) =>
      headers.has('authorization')
        ? reply(401, { 'www-authenticate': 'Basic realm="x"', 'x-echo': basic }, echo)
        : reply(401, { 'www-authenticate': 'Basic realm="x"' }, echo);
    const told = JSON.stringify(await check());
    for (const form of formsOf(credentials)) expect(told).not.toContain(form);
    expect(told).not.toContain('[');
  });
});
