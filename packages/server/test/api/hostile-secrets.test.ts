import { maxSecretValueBytes } from '@bothost/contract';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sendRawRequest as askService, type RawResponse } from '../support/ask.ts';
import { useTestServer } from '../support/use-test-server.ts';

const canary = 'canary-9d31';

let before: string;
const ask = (method: string, path: string, body?: unknown, more?: object) =>
  askService(service, method, path, body, more);
const stored = async () => (await ask('GET', '/secrets')).text;

const service = await useTestServer();
await ask('PUT', '/secrets/here', { secretKey: 'A', secretValue: 'is' });
await ask('PUT', '/secrets/keys', { secretKey: 'A', secretValue: 'is' });
const areReady = async () => {
  const { sets } = await service.client.listSecrets({});
  return sets.length === 2 && sets.every(({ status }) => status === 'ready');
};
await vi.waitUntil(areReady, { timeout: 40_000 });
beforeEach(async () => {
  before = await stored();
});

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

const valid = { secretKey: 'A', secretValue: canary };
const withValue = (secretValue: unknown) => ({ secretKey: 'A', secretValue });

describe('secrets API under hostile requests', () => {
  it.each<[name: string, body: unknown, path: string]>([
    ['a field twice', `{"secretKey":"A","secretValue":"${canary}","secretValue":"other"}`, 'body.secretValue'],
    [
      'a field twice, once with an escape',
      `{"secrets":[{"secretKey":"A","secretValue":"x"},{"secretKey":"B","secretValue":"${canary}","secret\\u0056alue":"y"}]}`,
      'body.secrets.1.secretValue',
    ],
    [
      'the field __proto__',
      `{"secrets":[{"secretKey":"A","secretValue":"x","__proto__":{"secretValue":"${canary}"}}]}`,
      'body.secrets.0.__proto__',
    ],
    ['half of a surrogate pair', `{"secretKey":"A","secretValue":"${canary}\\ud800"}`, 'body.secretValue'],
    ['a byte too many', withValue(canary.padEnd(maxSecretValueBytes + 1, 'x')), 'body.secretValue'],
    ['an object as value', withValue({ canary }), 'body.secretValue'],
    ['an unknown mode', { ...valid, mode: canary }, 'body.mode'],
    ['an invalid key', { secrets: [{ ...valid, secretKey: 'A=B' }] }, 'body.secrets.0.secretKey'],
    ['a reserved key', { secrets: [{ ...valid, secretKey: 'PORT' }] }, 'body.secrets.0.secretKey'],
    [
      'a registry host with a credential',
      { isImagePullSecret: true, host: `https://me:${canary}@ghcr.io`, secretValue: btoa(`me:${canary}`) },
      'body.host',
    ],
    [
      'a malformed registry credential',
      { isImagePullSecret: true, host: 'ghcr.io', secretValue: canary },
      'body.secretValue',
    ],
  ])('rejects a body with %s', async (_, body, path) => {
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
    'a/b',
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
    '/secrets/here/',
    '/secrets//A',
    '/secrets/',
    '/secrets/here/A/',
    '/secrets/here%2FA/B/C',
    '/secrets/here/%E0%A4%A',
    '/secrets/%ff',
    '/secrets/here/../here',
    '/secrets/here/A%00',
    '/secrets/here/__proto__',
    '/secrets/here/constructor',
    '/secrets/here%2FA',
    '/secrets/here/..%2Fhere',
    '/secrets/%2e%2e%2fkeys',
  ])('deletes nothing for the invalid path %s', async (path) => {
    await refused(await ask('DELETE', path), 404);
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
});
