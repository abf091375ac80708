import { maxSecretValueBytes } from '@bothost/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sendRawRequest as askService, type RawResponse } from '../support/ask.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const canary = 'canary-9d31';

describe('secrets API under hostile requests', () => {
  let service: TestServer;
  let before: string;
  const ask = (method: string, path: string, body?: unknown, more?: object) =>
    askService(service, method, path, body, more);
  const stored = async () => (await ask('GET', '/secrets')).text;

  beforeAll(async () => {
    service = await startTestServer();
    await ask('PUT', '/secrets/here', { secretKey: 'A', secretValue: 'is' });
    await ask('PUT', '/secrets/keys', { secretKey: 'A', secretValue: 'is' });
    const areReady = async () => {
      const { sets } = await service.client.listSecrets({});
      return sets.length === 2 && sets.every(({ status }) => status === 'ready');
    };
    await vi.waitUntil(areReady, { timeout: 40_000 });
  });
  beforeEach(async () => {
    before = await stored();
  });
  afterAll(() => service.close());

  /**
   * Expects that the response has the given status, reports issues for exactly the fields in `paths`, and contains no secret
   * value, and that the stored secret sets have not changed.
   */
  async function refused(answer: RawResponse, status: number, ...paths: string[]): Promise<void> {
    expect({ status: answer.status, text: answer.text }).toEqual({
      status,
      text: expect.not.stringContaining('canary'),
    });
    const issues = (answer.json['issues'] ?? []) as { path: string; message: string }[];
    expect(issues.map(({ path }) => path)).toEqual(paths);
    expect(answer.json['error']).not.toMatch(/[[\]]/);
    expect(await stored()).toBe(before);
  }

  it.each([
    [`{"secretKey":"A","secretValue":"${canary}","secretValue":"other"}`, 'body.secretValue'],
    [`{"secretKey":"A","secretValue":"${canary}","secretKey":"B"}`, 'body.secretKey'],
    [
      `{"secrets":[{"secretKey":"A","secretValue":"x"},{"secretKey":"B","secretValue":"${canary}","secret\\u0056alue":"y"}]}`,
      'body.secrets.1.secretValue',
    ],
    [
      `{"secrets":[{"secretKey":"A","secretValue":"x","__proto__":{"secretValue":"${canary}"}}]}`,
      'body.secrets.0.__proto__',
    ],
  ])('rejects a body with a duplicate field or the field __proto__: %s', async (body, path) => {
    await refused(await ask('PUT', '/secrets/here', body), 400, path);
  });

  it('rejects two values for one secret key', async () => {
    const secrets = [
      { secretKey: 'A', secretValue: canary },
      { secretKey: 'A', secretValue: `${canary}2` },
    ];
    await refused(await ask('PUT', '/secrets/here', { secrets }), 400, 'body.secrets');
  });

  it.each([
    ['half of a surrogate pair', `{"secretKey":"A","secretValue":"${canary}\\ud800"}`, 'body.secretValue'],
    ['the other half', `{"secretKey":"A","secretValue":"\\udc00${canary}"}`, 'body.secretValue'],
    ['a NUL', `{"secretKey":"A","secretValue":"${canary}\\u0000"}`, 'body.secretValue'],
    ['no content', `{"secretKey":"A","secretValue":""}`, 'body.secretValue'],
    [
      'a byte too many',
      JSON.stringify({ secretKey: 'A', secretValue: canary.padEnd(maxSecretValueBytes + 1, 'x') }),
      'body.secretValue',
    ],
    [
      'a byte too many in UTF-8',
      JSON.stringify({ secretKey: 'A', secretValue: `${'é'.repeat(maxSecretValueBytes / 2)}x` }),
      'body.secretValue',
    ],
    ['the type number', `{"secretKey":"A","secretValue":7}`, 'body.secretValue'],
    ['the type object', `{"secretKey":"A","secretValue":{"canary":"${canary}"}}`, 'body.secretValue'],
  ])('rejects a value with %s', async (_, body, path) => {
    await refused(await ask('PUT', '/secrets/here', body), 400, path);
  });

  it('rejects invalid UTF-8 and truncated JSON', async () => {
    const body = Buffer.from(`{"secretKey":"A","secretValue":"${canary}\xff"}`, 'latin1');
    const answer = await ask('PUT', '/secrets/here', body);
    await refused(answer, 400);
    expect(answer.json).toMatchObject({ reason: 'invalid-json', error: expect.stringContaining('UTF-8') });
    await refused(await ask('PUT', '/secrets/here', `{"secretKey": "A", "secretValue": "${canary}`), 400);
  });

  it.each([
    '../x',
    'a b',
    'a/b',
    'ｓｅｔ',
    'é',
    'a.b',
    'a:b',
    '-a',
    'a-',
    '__proto__',
    'x'.repeat(64),
    'a\u202eb',
    'a\n',
    // U+212A is the Kelvin sign. Its lower case is the ASCII letter k, which would be valid in a name.
    '\u212Aeys',
  ])('rejects the set name %j', async (name) => {
    const path = `/secrets/${encodeURIComponent(name)}`;
    await refused(await ask('PUT', path, { secretKey: 'A', secretValue: canary }), 400, 'params.setName');
    await refused(await ask('GET', path), 404);
    await refused(await ask('DELETE', path), 404);
    await refused(await ask('GET', `${path}/history`), 404);
    await refused(await ask('POST', `${path}/rollback`, { revision: 1 }), 404);
  });

  it.each([
    '',
    'A ',
    ' A',
    'A B',
    'A=B',
    'A.B',
    'Ａ',
    'É',
    'A\n',
    'PORT',
    'BOTHOST_X',
    'PATH',
    'A'.repeat(65),
    'A\u0000',
  ])('rejects the key name %j', async (key) => {
    const pair = { secretKey: key, secretValue: canary };
    await refused(await ask('PUT', '/secrets/here', { secrets: [pair] }), 400, 'body.secrets.0.secretKey');
  });

  it.each([
    '/secrets/here/',
    '/secrets//A',
    '/secrets/',
    '/secrets/here/A/',
    '/secrets/here%2FA/B/C',
    '/secrets/here/%E0%A4%A',
    '/secrets/%ff',
    '/secrets/here/../here',
  ])('deletes nothing for the invalid path %s', async (path) => {
    await refused(await ask('DELETE', path), 404);
  });

  it.each([
    ['/secrets/here/A%00', 404],
    ['/secrets/here/__proto__', 404],
    ['/secrets/here/constructor', 404],
    ['/secrets/here%2FA', 404],
    ['/secrets/here/..%2Fhere', 404],
    ['/secrets/%2e%2e%2fkeys', 404],
  ])('deletes nothing for the encoded path %s', async (path, status) => {
    await refused(await ask('DELETE', path), status);
  });

  it('stores a value of the maximum size and a value with CRLF unchanged', async () => {
    const pem = '-----BEGIN KEY-----\r\nAAAA\r\n-----END KEY-----\r\n';
    const secrets = [
      { secretKey: 'PEM', secretValue: pem },
      { secretKey: 'FULL', secretValue: 'x'.repeat(maxSecretValueBytes) },
    ];
    const written = await ask('PUT', '/secrets/large', { secrets });
    expect(written.json['changes']).toMatchObject([{ bytes: maxSecretValueBytes }, { bytes: pem.length }]);
    expect((await ask('PUT', '/secrets/large', { secrets })).json['change']).toBe('none');
    const unix = [{ secretKey: 'PEM', secretValue: pem.replaceAll('\r', '') }];
    expect((await ask('PUT', '/secrets/large', { secrets: unix })).json['change']).toBe('updated');
    expect((await ask('DELETE', '/secrets/large')).status).toBe(200);
  });

  it('ignores response-only fields in a request', async () => {
    const claims = {
      status: 'ready',
      readiness: 'ready',
      revision: 900,
      organizationId: crypto.randomUUID(),
      keyCount: 9,
    };
    const body = { secretKey: 'A', secretValue: '1', ...claims };
    expect((await ask('PUT', '/secrets/claimed', body)).json).toMatchObject({ readiness: 'pending', revision: 1 });
    expect((await ask('DELETE', '/secrets/claimed')).status).toBe(200);
  });

  it('refuses two Authorization headers, because a proxy may have checked only one', async () => {
    const keys = [`Bearer ${service.privateKey}`, `Bearer ${service.publicKey}`];
    for (const authorization of [keys, keys.toReversed(), [keys[0], keys[0]]]) {
      const answer = await ask('GET', '/secrets', undefined, { headers: { authorization } });
      expect(answer).toMatchObject({
        status: 401,
        json: { reason: 'key-missing', error: expect.stringContaining('several') },
      });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.text).not.toContain(service.privateKey);
    }
  });

  it.each([
    [{}, ['body.secrets']],
    [{ secretKey: 'A' }, ['body.secretValue']],
    [{ secretKey: 'A', secretValue: canary, secrets: [] }, ['body.secretKey']],
    [{ secretKey: 'A', secretValue: canary, remove: ['A'] }, ['body.remove']],
    [{ secretKey: 'A', secretValue: canary, mode: canary }, ['body.mode']],
    [{ secretKey: 'A', secretValue: canary, expectedRevision: -1 }, ['body.expectedRevision']],
    [{ secretKey: 'A', secretValue: canary, dryRun: 'yes' }, ['body.dryRun']],
    [
      { secrets: Array.from({ length: 257 }, (_, number) => ({ secretKey: `K${number}`, secretValue: canary })) },
      ['body.secrets'],
    ],
    [
      { isImagePullSecret: true, host: `https://me:${canary}@ghcr.io`, secretValue: btoa(`me:${canary}`) },
      ['body.host'],
    ],
    [{ isImagePullSecret: true, host: 'ghcr.io', secretValue: canary }, ['body.secretValue']],
  ])('rejects an incomplete or contradictory body: case %#', async (body, paths) => {
    await refused(await ask('PUT', '/secrets/here', body), 400, ...paths);
  });
});
