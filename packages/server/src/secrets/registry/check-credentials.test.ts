import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FakeImageRegistry,
  formatHttpResponse,
  type ImageRegistryRequest,
  listLeakableCredentialEncodings,
  startFakeImageRegistry,
} from '../../../test/support/fake-image-registry.ts';
import { checkCredentials, findImageDigest } from './check-credentials.ts';
import { parseImageReference } from './image-reference.ts';
import { createImageRegistryConnectionPolicy } from './registry-policy.ts';
import type { CredentialVerdict } from './verdict.ts';

const credentials = 'robot$team+ci:Pa/ss:wörd?&=';
const basic = `Basic ${Buffer.from(credentials).toString('base64')}`;

/** The steps of a check: requests without credentials (`ask`), to the token server, with the credentials or the token. */
type Step = 'ask' | 'ask image' | 'token' | 'login' | 'image';
/**
 * How a server answers: with a status, with 401 and a challenge, with a body, with headers, or as it likes. `{registry}` and
 * `{other}` stand for the two origins.
 */
type Answer =
  | number
  | string
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | ((socket: Socket) => void);
type Answers = Partial<Record<Step, Answer>>;

const image = 'team/app:1';
const token = (body: string): Answers => ({ token: { status: 200, body } });
const wait = (seconds: string): Answers => ({ ask: { status: 429, headers: { 'retry-after': seconds } } });
const redirect = (status = 307) => ({ status, headers: { location: '{other}/v2/' } });
/** A registry that requires tokens and accepts the credentials. */
const asksForToken = 'Bearer realm="{registry}/token",service="a&b=c"';
const usual: Record<Step, Answer> = {
  ask: asksForToken,
  'ask image': asksForToken,
  token: { status: 200, body: '{"token":"good.token"}' },
  login: 200,
  image: 200,
};
const write = (text: string) => (socket: Socket) => void socket.write(text);
const flood = (head: string) => (socket: Socket) => {
  const more = () => {
    while (!socket.destroyed && socket.write('x'.repeat(65_536))) {}
    if (!socket.destroyed) socket.once('drain', more);
  };
  socket.write(head);
  more();
};
const drip = (socket: Socket) => {
  const timer = setInterval(() => socket.write('HTTP/1.1 103 X\r\n\r\n'), 20);
  socket.once('close', () => clearInterval(timer));
};

type Expected = readonly [result: CredentialVerdict['result'], message: RegExp];
const unreachable = (message: RegExp): Expected => ['unreachable', message];
const accepted: Expected = ['verified', /^The registry accepts the credentials\.$/];
const mayPull: Expected = ['verified', /accepts the credentials, and they may pull team\/app:1\.$/];
const mayNotPull: Expected = ['rejected', /accepts the credentials, but they may not pull team\/app:1\.$/];
const noImage: Expected = ['rejected', /accepts the credentials, but team\/app:1 does not exist or is not visible/];
const wrong: Expected = ['rejected', /^The registry rejects the credentials: user or password is wrong/];
const open: Expected = ['skipped', /requires no credentials, so these could not be checked/];
const openWithoutImage: Expected = ['skipped', /requires no credentials, and does not have team\/app:1/];
const unsupported = unreachable(/authentication scheme that this service does not support/);
const elsewhere = unreachable(/redirects to another address .*, which does not get the credentials/);
const otherHost = unreachable(/token address on another host .* The credentials were not sent/);
const noAddress = unreachable(/does not name a token address/);
const noToken = unreachable(/contains no token/);
const lost = unreachable(/^The connection was lost/);
const late = unreachable(/^The registry did not answer within 0\.3 s\.$/);
const tooLarge = unreachable(/^The response is too large for a registry\.$/);

const byPassword = 'ask, login';
const byToken = 'ask, token, login';

type Row = [what: string, answers: Answers, expected: Expected, requests: string, image?: string];
const rows: readonly Row[] = [
  // The authentication that the registry requires.
  ['asks for a token', {}, accepted, byToken],
  ['asks for a token for an image', {}, mayPull, `${byToken}, image`, image],
  ['asks for the password', { ask: 'Basic realm="x"' }, accepted, byPassword],
  ['asks for the password for an image', { ask: 'Basic realm="x"' }, mayPull, `${byPassword}, image`, image],
  ['asks for nothing', { ask: 200 }, open, 'ask'],
  ['asks for nothing, with the image', { ask: 200, 'ask image': 200 }, open, 'ask, ask image', image],
  ['asks for nothing, without the image', { ask: 200, 'ask image': 404 }, openWithoutImage, 'ask, ask image', image],
  ['asks for a token only for the image', { ask: 200 }, mayPull, 'ask, ask image, token, login, image', image],
  // Syntax of the WWW-Authenticate header (RFC 9110, section 11.6.1).
  ['asks in an unknown scheme', { ask: 'Negotiate abc==' }, unsupported, 'ask'],
  ['asks in an unknown scheme or Basic', { ask: 'Negotiate abc==, Basic realm="b"' }, accepted, byPassword],
  ['asks in no scheme', { ask: 401 }, unsupported, 'ask'],
  ['asks with an empty challenge', { ask: ',,, "' }, unsupported, 'ask'],
  ['asks for Basic without a realm', { ask: 'Basic' }, accepted, byPassword],
  ['asks for Basic or a token', { ask: 'Basic realm="b", Bearer realm="{registry}/token"' }, accepted, byToken],
  ['asks with spaces and escapes', { ask: 'bearer Realm = "{registry}\\/token" , scope="x,y z"' }, accepted, byToken],
  ['asks with a word as realm', { ask: 'Bearer realm=a, Basic realm="b"' }, accepted, byPassword],
  ['asks with two realms', { ask: 'Bearer realm="{registry}/token",realm="{other}/token"' }, accepted, byToken],
  ['asks with an unclosed realm', { ask: 'Bearer realm="{registry}/token' }, noAddress, 'ask'],
  ['asks with many commas', { ask: `Bearer ${' ,'.repeat(5_000)}` }, noAddress, 'ask'],
  ['asks with many backslashes', { ask: `Bearer a=${'"\\'.repeat(5_000)}` }, noAddress, 'ask'],
  ['asks with a long word', { ask: 'a'.repeat(10_000) }, unsupported, 'ask'],
  // Address of the token server, which gets the password; token-address.test.ts has more cases.
  ['has the token server of another host', { ask: 'Bearer realm="{other}/token"' }, otherHost, 'ask'],
  ['has that, or Basic', { ask: 'Bearer realm="{other}/token", Basic realm="x"' }, accepted, byPassword],
  ['has a file as token server', { ask: 'Bearer realm="file:///etc/passwd"' }, unreachable(/without TLS/), 'ask'],
  ...[301, 302, 303, 307, 308].map(
    (status): Row => [`redirects (${status})`, { ask: redirect(status) }, elsewhere, 'ask'],
  ),
  ['redirects from its token server', { token: redirect() }, elsewhere, 'ask, token'],
  ['redirects at the login', { login: redirect() }, elsewhere, byToken],
  ['redirects from the image', { image: redirect() }, elsewhere, `${byToken}, image`, image],
  ['asks for a token again and again', { login: asksForToken }, wrong, byToken, image],
  ['asks for Basic after a token', { login: 'Basic realm="x"' }, wrong, byToken],
  // What the token server answers.
  ['has a token server that denies', { token: 401 }, wrong, 'ask, token'],
  ['has a token server that forbids', { token: 403 }, wrong, 'ask, token'],
  ['has a token server without a token', { token: 404 }, unreachable(/^The token server .* 404/), 'ask, token'],
  ['issues an access token', token('{"access_token":"good.token"}'), accepted, byToken],
  ['issues HTML', token('<html>sign in</html>'), noToken, 'ask, token'],
  ['issues an image', token('\u0089PNG'), noToken, 'ask, token'],
  ['issues a number', token('{"token":5}'), noToken, 'ask, token'],
  ['issues a line break', token('{"token":"a\\r\\nx: y"}'), noToken, 'ask, token'],
  ['issues an empty token', token('{"token":""}'), noToken, 'ask, token'],
  ['issues a letter beyond ASCII', token('{"token":"ünicode"}'), noToken, 'ask, token'],
  ['issues null', token('null'), noToken, 'ask, token'],
  // What the registry answers.
  ...[404, 403, 503, 204].map(
    (status): Row => [`answers ${status}`, { ask: status }, unreachable(/answers \d+/), 'ask'],
  ),
  ['limits for seconds', wait('30'), unreachable(/Try again in 30 s/), 'ask'],
  ['limits until a date', wait('Fri, 20 Nov 2026 12:00:00 GMT'), unreachable(/after 2026-11-20T12:00:00/), 'ask'],
  ['limits with nonsense', wait('[red]'), unreachable(/Try again later/), 'ask'],
  ['denies the token', { login: 401 }, wrong, byToken],
  ['forbids the token', { login: 403 }, wrong, byToken],
  ['denies the password', { ask: 'Basic realm="x"', login: 401 }, wrong, byPassword],
  ['fails at the login', { login: 500 }, unreachable(/answers 500/), byToken],
  ['denies the image', { image: 401 }, mayNotPull, `${byToken}, image`, image],
  ['forbids the image', { image: 403 }, mayNotPull, `${byToken}, image`, image],
  ['lacks the image', { image: 404 }, noImage, `${byToken}, image`, image],
  ['limits the image', { image: 429 }, unreachable(/too many requests/), `${byToken}, image`, image],
  ['repeats the password', { login: { status: 401, headers: { x: basic }, body: credentials } }, wrong, byToken],
  // What is not HTTP, not in time, or endless.
  ['speaks SSH', { ask: write('SSH-2.0-OpenSSH_9.2\r\n\r\n') }, lost, 'ask'],
  ['disconnects', { ask: (socket) => void socket.destroy() }, lost, 'ask'],
  ['never answers', { ask: () => {} }, late, 'ask'],
  ['answers only with interim responses', { ask: drip }, late, 'ask'],
  ['never ends its token', { token: write('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{"') }, late, 'ask, token'],
  ['has endless headers', { ask: flood('HTTP/1.1 200 X\r\nx: ') }, tooLarge, 'ask'],
  ['has an endless token', { token: flood('HTTP/1.1 200 X\r\n\r\n') }, tooLarge, 'ask, token'],
  ['has an endless error', { ask: flood('HTTP/1.1 500 X\r\n\r\n') }, unreachable(/answers 500/), 'ask'],
];

function stepOf({ line, headers }: ImageRegistryRequest): Step {
  if (line.startsWith('GET /token')) return 'token';
  const isForImage = line.startsWith('HEAD ');
  if (!headers.has('authorization')) return isForImage ? 'ask image' : 'ask';
  return isForImage ? 'image' : 'login';
}

/**
 * `other` is an attacker's server. The operator has listed its host as a registry, so only the rules for token servers prevent
 * the service from sending the credentials to `other`.
 */
describe('checkCredentials', () => {
  let registry: FakeImageRegistry;
  let other: FakeImageRegistry;
  let answers: Answers;

  beforeEach(async () => {
    answers = {};
    registry = await startFakeImageRegistry((request, socket) => {
      const answer = answers[stepOf(request)] ?? usual[stepOf(request)];
      if (typeof answer !== 'function') return format(answer);
      answer(socket);
      return null;
    });
    other = await startFakeImageRegistry(() => formatHttpResponse(200, {}, '{"token":"stolen"}'));
  });
  afterEach(async () => {
    await registry.close();
    await other.close();
  });

  const at = () => `http://registry.test:${registry.port}`;
  function format(answer: Exclude<Answer, (socket: Socket) => void>): string {
    if (typeof answer === 'number') return formatHttpResponse(answer);
    const { status, headers, body } =
      typeof answer === 'string' ? { status: 401, headers: { 'www-authenticate': answer }, body: '' } : answer;
    return formatHttpResponse(status, headers, body)
      .replaceAll('{registry}', at())
      .replaceAll('{other}', `http://other.test:${other.port}`);
  }
  const connection = (resolve: () => Promise<readonly string[]> = async () => ['127.0.0.1']) => ({
    policy: createImageRegistryConnectionPolicy([at(), `http://other.test:${other.port}`], []),
    resolve,
    timeoutMs: 300,
  });
  const ask = (options = connection(), host = at()) => checkCredentials(options, host, Buffer.from(credentials), null);

  it.each(rows)('returns the verdict on a registry that %s', async (_, given, [result, message], requests, text) => {
    answers = given;
    const named = text === undefined ? null : parseImageReference(text, at());
    if (named !== null && 'problem' in named) throw new Error(named.problem);
    const timeoutMs = message === late[1] ? 300 : 5_000;
    const verdict = await checkCredentials({ ...connection(), timeoutMs }, at(), Buffer.from(credentials), named);
    expect(verdict).toEqual({ result, message: expect.stringMatching(message) });
    expect(verdict.message).not.toContain('[');
    const steps = registry.requests.map(stepOf);
    expect(steps.join(', ')).toBe(requests);
    // The password is sent to the token server, or else with each request; a token replaces it.
    const proof = steps.includes('token') ? 'Bearer good.token' : basic;
    const expected = { ask: undefined, 'ask image': undefined, token: basic, login: proof, image: proof };
    const sent = registry.requests.map(({ headers }) => headers.get('authorization'));
    expect(sent).toEqual(steps.map((step) => expected[step]));
    expect(other.bytes()).toBe('');
    const leaks = listLeakableCredentialEncodings(credentials);
    expect(leaks.filter((form) => verdict.message.includes(form))).toEqual([]);
    if (!sent.includes(basic)) expect(leaks.filter((form) => registry.bytes().includes(form))).toEqual([]);
  });

  it('asks for a token of the service and the image that the registry named', async () => {
    const named = parseImageReference(image, at());
    if ('problem' in named) throw new Error(named.problem);
    await checkCredentials(connection(), at(), Buffer.from(credentials), named);
    expect(registry.requests.map(({ line }) => line)).toEqual([
      'GET /v2/ HTTP/1.1',
      'GET /token?service=a%26b%3Dc&scope=repository%3Ateam%2Fapp%3Apull HTTP/1.1',
      'GET /v2/ HTTP/1.1',
      'HEAD /v2/team/app/manifests/1 HTTP/1.1',
    ]);
  });

  it.each([
    ['never', () => new Promise<never>(() => {}), 'unreachable', late[1]],
    [
      'to nothing',
      () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })),
      'unreachable',
      /^The host name does not exist/,
    ],
    ['to a cloud metadata address', async () => ['169.254.169.254'], 'skipped', /BOTHOST_REGISTRIES/],
  ])('sends nothing to a listed host whose name resolves %s', async (_, resolve, result, message) => {
    expect(await ask(connection(resolve))).toEqual({ result, message: expect.stringMatching(message) });
    expect(registry.requests).toEqual([]);
  });

  it.each([[['127.0.0.1']], [['93.184.216.34', '127.0.0.1']], [['::ffff:127.0.0.1']], [['169.254.169.254']], [[]]])(
    'sends nothing to a registry that is not in BOTHOST_REGISTRIES and resolves to %j',
    async (addresses) => {
      const listed = connection(async () => addresses);
      const unlisted = { ...listed, policy: { ...listed.policy, listed: new Set([`another.test:${registry.port}`]) } };
      const message = expect.stringContaining('BOTHOST_REGISTRIES');
      expect(await ask(unlisted)).toEqual({ result: 'skipped', message });
      expect(registry.requests).toEqual([]);
    },
  );

  it('sends nothing to an unlisted registry on a private address or without TLS', async () => {
    const unlisted = { ...connection(), policy: createImageRegistryConnectionPolicy([], []) };
    for (const host of [`127.0.0.1:${registry.port}`, `localhost:${registry.port}`, at(), '169.254.169.254']) {
      expect(await ask(unlisted, host)).toMatchObject({ result: 'skipped' });
    }
    expect(registry.requests).toEqual([]);
  });

  it('resolves the host name of a registry only once', async () => {
    const trap = await startFakeImageRegistry(() => formatHttpResponse(200), '127.0.0.2', registry.port);
    const addresses = [['127.0.0.1'], ['127.0.0.2']];
    try {
      const verdict = await ask({ ...connection(async () => addresses.shift() ?? []), timeoutMs: 5_000 });
      expect([verdict.result, addresses, trap.bytes()]).toEqual(['verified', [['127.0.0.2']], '']);
    } finally {
      await trap.close();
    }
  });

  it('says that no server is listening at a closed port', async () => {
    const host = at();
    const options = connection();
    await registry.close();
    expect(await ask(options, host)).toEqual({
      result: 'unreachable',
      message: 'No server is listening at this host and port.',
    });
    registry = await startFakeImageRegistry(() => null);
  });

  describe('findImageDigest', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const withDigest = { status: 200, headers: { 'docker-content-digest': digest } };
    it.each<[string, Answers, string | null, string | null]>([
      ['with a token', { image: withDigest }, credentials, digest],
      ['with a token that the registry issues to anybody', { image: withDigest }, null, digest],
      ['without credentials', { 'ask image': withDigest }, null, digest],
      ['that is not a digest', { image: { ...withDigest, headers: { 'docker-content-digest': 'x y' } } }, null, null],
      ['of a missing image', { image: 404 }, credentials, null],
      ['of an image behind a password', { 'ask image': 'Basic realm="x"' }, null, null],
      ['with a wrong password', { token: 401 }, credentials, null],
      ['behind a limit', { 'ask image': 429 }, credentials, null],
    ])('returns what the registry says about a digest %s', async (_, given, password, expected) => {
      answers = given;
      const named = parseImageReference(image, at());
      if ('problem' in named) throw new Error(named.problem);
      const found = findImageDigest(connection(), at(), named, password === null ? null : Buffer.from(password));
      expect(await found).toBe(expected);
      if (password === null) expect(registry.bytes()).not.toContain('Basic ');
    });
  });
});
