import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReservedSecretKey, maxSecretValueBytes } from './limits.ts';
import { putSecrets, rollBackSecrets } from './operations/secret-writes.ts';
import { getSecretHistory } from './operations/secrets.ts';
import { countUtf8Bytes, findSecretValueProblems, SecretSetKey, SecretSetName } from './secret-fields.ts';

const accepts = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('SecretSetName', () => {
  it.each(['a', 'A', '7', 'voice-keys', 'Voice-Keys-2', 'a'.repeat(63)])('accepts %s', (name) => {
    expect(accepts(SecretSetName, name)).toBe(true);
  });

  it.each(['', '-', 'a-', '-a', 'a_b', 'a.b', '../x', 'ｓｅｔ', 'a b', 'a\n', 'a\0', 'a'.repeat(64), 'a/b'])(
    'rejects %j',
    (name) => expect(accepts(SecretSetName, name)).toBe(false),
  );
});

describe('SecretSetKey', () => {
  it.each(['A', 'a-b', '1A', '__proto__', 'constructor', 'PIPECAT_LOG_LEVEL', 'NLTK_DATA', 'a'.repeat(64)])(
    'accepts %s',
    (key) => expect(accepts(SecretSetKey, key)).toBe(true),
  );

  it.each(['', ' A', 'A ', 'A.B', 'É', 'A=B', 'A\n', 'a'.repeat(65)])('rejects %j', (key) => {
    expect(accepts(SecretSetKey, key)).toBe(false);
  });

  it.each(['PORT', 'BOT_CONTROL_TOKEN', 'BOT_X', 'BOTHOST_INSTANCE', 'PATH', 'HOME', 'ICE_CONFIG_URL'])(
    'rejects the reserved key %s',
    (key) => {
      expect(isReservedSecretKey(key)).toBe(true);
      expect(accepts(SecretSetKey, key)).toBe(false);
    },
  );

  it.each([
    ['PORT', 'PORT is reserved: the service sets or removes this variable'],
    ['PIPECAT_SETUP_FILES', 'PIPECAT_SETUP_FILES is reserved: Pipecat runs the Python files that this variable names'],
  ])('names the reserved key %s and the reason in the error', (key, message) => {
    expect(SecretSetKey.safeParse(key).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });
});

describe('SecretValue', () => {
  it('accepts any text that an environment variable can contain, up to the maximum size', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (value) => {
        expect(findSecretValueProblems(value).length === 0).toBe(!value.includes('\0') && !/\p{Cs}/u.test(value));
      }),
    );
    expect(findSecretValueProblems('é'.repeat(maxSecretValueBytes / 2))).toEqual([]);
    expect(findSecretValueProblems('é'.repeat(maxSecretValueBytes / 2 + 1))).toEqual([
      `has ${maxSecretValueBytes + 2} bytes; the maximum is ${maxSecretValueBytes}`,
    ]);
    expect(findSecretValueProblems('')).toHaveLength(1);
  });

  it('limits the size of a value in UTF-8 bytes', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => countUtf8Bytes(text) === Buffer.byteLength(text)));
  });
});

describe('PutSecretsRequest', () => {
  const problems = (body: unknown) => {
    const parsed = putSecrets.body.safeParse(body);
    return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };
  const pair = (secretKey: string, secretValue: string) => ({ secretKey, secretValue });

  it.each([
    [{ secrets: [pair('A', '1'), pair('B', '2')] }],
    [{ secrets: [pair('A', '1')], region: 'us-west', mode: 'replace', expectedRevision: 0, dryRun: true }],
    [{ name: 'x', isImagePullSecret: false, secretKey: 'A', secretValue: '1', region: 'us-west' }],
    [{ isImagePullSecret: true, host: 'https://ghcr.io/', secretValue: 'dTpw' }],
    [{ secrets: [], remove: ['A'] }],
    // Reserved keys can be removed, because existing secret sets may contain them.
    [{ secrets: [pair('A', '1')], remove: ['VIRTUAL_ENV'] }],
    [{ secrets: [pair('A', '1')], status: 'ready', anything: { else: true } }],
  ])('accepts %j', (body) => expect(problems(body)).toEqual([]));

  it.each([
    [{}, 'secrets'],
    [{ secrets: [] }, 'secrets'],
    [{ secrets: [pair('A', '1'), pair('A', '2')] }, 'secrets'],
    [{ secrets: [pair('A', '1')], secretKey: 'B', secretValue: '2' }, 'secretKey'],
    [{ secretKey: 'A' }, 'secretValue'],
    [{ secretValue: 'x' }, 'secretValue'],
    [{ secrets: [pair('A', '1')], remove: ['A'] }, 'remove'],
    [{ remove: ['A'], mode: 'replace' }, 'remove'],
    [{ isImagePullSecret: true, secretValue: 'dTpw' }, 'host'],
    [{ isImagePullSecret: true, host: 'ghcr.io' }, 'secretValue'],
    [{ isImagePullSecret: true, host: 'ghcr.io', secretValue: 'dTpw', secrets: [pair('A', '1')] }, 'isImagePullSecret'],
    [
      { isImagePullSecret: true, host: 'ghcr.io', secretValue: 'dTpw', expiresAt: '9999-12-31T23:00:00-14:00' },
      'expiresAt',
    ],
    [{ secrets: [pair('PORT', '1')] }, 'secrets.0.secretKey'],
    [{ secrets: [pair('A', '')] }, 'secrets.0.secretValue'],
  ])('rejects %j and names the invalid field', (body, field) => {
    expect(problems(body).some((problem) => problem.startsWith(`${field}:`))).toBe(true);
  });

  it('rejects a revision that the database cannot store', () => {
    const beyond = 2_147_483_648;
    expect(rollBackSecrets.body.safeParse({ revision: beyond }).success).toBe(false);
    expect(rollBackSecrets.body.safeParse({ revision: beyond - 1 }).success).toBe(true);
    expect(getSecretHistory.query.safeParse({ before: `${beyond}` }).success).toBe(false);
    expect(getSecretHistory.query.safeParse({ before: `${beyond - 1}` }).success).toBe(true);
  });

  it('reports the number of keys if a request has too many keys', () => {
    const keys = Array.from({ length: 257 }, (_, index) => `K${index}`);
    const message = '257 keys; a set has at most 256';
    expect(problems({ secrets: keys.map((key) => pair(key, '1')) })).toEqual([`secrets: ${message}`]);
    expect(problems({ remove: keys })).toEqual([`remove: ${message}`]);
  });

  it('does not repeat a secret value in its errors', () => {
    const canary = 'canary-5f1e';
    for (const value of [`${canary}\0`, `${canary}\ud800`, canary.repeat(10_000)]) {
      const body = { secrets: [pair('A', value), pair('no good', value)], secretValue: value, host: 7 };
      const text = problems(body).join('\n');
      expect(text).not.toBe('');
      expect(text).not.toContain('canary');
    }
  });
});
