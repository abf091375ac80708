import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decrypt, encrypt } from './aes-gcm.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList } from './encode.ts';
import { decryptValue, encryptValue, readKeyVersion, type SecretEncryptionContext } from './encrypted-value.ts';
import { computeSecretValueFingerprint, formatFingerprint } from './fingerprint.ts';
import { computeMac, isValidMac } from './mac.ts';
import { computeRootKeyId, createLocalRootKeys, RootKeyMissingError } from './root-key.ts';

const organizationKey = { version: 3, key: randomBytes(32) };
const value = Buffer.from('pa#ss "wörd"\n');
const context: SecretEncryptionContext = {
  organizationId: '01890000-0000-7000-8000-000000000001',
  region: 'us-west',
  setId: '01890000-0000-7000-8000-000000000002',
  kind: 'secret',
  key: 'API_KEY',
  revision: 4,
  fingerprint: randomBytes(32),
  fingerprintVersion: 1,
  bytes: value.length,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
};
const encrypted = () => encryptValue(organizationKey, context, value, randomBytes);

function* flipped(bytes: Buffer) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield copy;
  }
}

describe('encodeValueList', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => !/\p{Cs}/u.test(text)),
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  );
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

  it('returns different bytes for different lists', () => {
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (one, other) => {
        expect(encodeValueList(one).equals(encodeValueList(other))).toBe(same(one, other));
      }),
      { numRuns: 2_000 },
    );
    expect(encodeValueList(['ab', 'c'])).not.toEqual(encodeValueList(['a', 'bc']));
    expect(encodeValueList(['1'])).not.toEqual(encodeValueList([1]));
    expect(encodeValueList([''])).not.toEqual(encodeValueList([null]));
    expect(encodeValueList([-0])).toEqual(encodeValueList([0]));
  });
});

describe('encryptValue and decryptValue', () => {
  it('return the original value after encryption and decryption', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_000 }), (bytes) => {
        const content = Buffer.from(bytes);
        const at = { ...context, bytes: content.length };
        const stored = encryptValue(organizationKey, at, content, randomBytes);
        expect(decryptValue(organizationKey, at, stored).equals(content)).toBe(true);
        expect(readKeyVersion(stored)).toBe(organizationKey.version);
      }),
      { numRuns: 500 },
    );
  });

  it('use a new salt and IV each time, and hide the plaintext', () => {
    const [one, other] = [encrypted(), encrypted()];
    expect(one.includes(value.subarray(0, 6))).toBe(false);
    // Byte ranges of the salt (32 bytes) and the IV (12 bytes) in an encrypted value.
    for (const [from, to] of [
      [6, 38],
      [38, 50],
    ]) {
      expect(one.subarray(from, to)).not.toEqual(other.subarray(from, to));
    }
  });

  it('reject a ciphertext with a flipped bit', () => {
    const stored = encrypted();
    let tried = 0;
    for (const bytes of flipped(stored)) {
      expect(() => decryptValue(organizationKey, context, bytes)).toThrow(DamagedDataError);
      tried += 1;
    }
    expect(tried).toBe(stored.length * 8);
  });

  it('reject a truncated or extended ciphertext', () => {
    const stored = encrypted();
    for (let length = 0; length < stored.length; length += 1) {
      expect(() => decryptValue(organizationKey, context, stored.subarray(0, length))).toThrow(DamagedDataError);
    }
    expect(() => decryptValue(organizationKey, context, Buffer.concat([stored, Buffer.alloc(1)]))).toThrow(
      DamagedDataError,
    );
  });

  it('reject a ciphertext if any field of its associated data differs', () => {
    const others: { [Field in keyof SecretEncryptionContext]: SecretEncryptionContext[Field] } = {
      organizationId: context.setId,
      region: 'us-wes',
      setId: context.organizationId,
      kind: 'imagePullSecret',
      key: 'API_KE',
      revision: 5,
      fingerprint: randomBytes(32),
      fingerprintVersion: 2,
      bytes: value.length + 1,
      createdAt: new Date(context.createdAt.getTime() + 1),
    };
    const stored = encrypted();
    for (const [field, other] of Object.entries(others)) {
      const elsewhere = { ...context, [field]: other };
      expect(() => decryptValue(organizationKey, elsewhere, stored), field).toThrow(DamagedDataError);
    }
    const swapped = { ...context, region: context.key, key: context.region };
    expect(() => decryptValue(organizationKey, swapped, stored)).toThrow(DamagedDataError);
  });

  it('reject a wrong key, and the right key with a wrong version', () => {
    const stored = encrypted();
    expect(() => decryptValue({ version: 3, key: randomBytes(32) }, context, stored)).toThrow(DamagedDataError);
    expect(() => decryptValue({ ...organizationKey, version: 4 }, context, stored)).toThrow(DamagedDataError);
    // The header of an encrypted value contains the version of its key, here 3. Change the header to 4: decryption with the
    // version 4 must still fail.
    stored.writeUInt32BE(4, 2);
    expect(() => decryptValue({ ...organizationKey, version: 4 }, context, stored)).toThrow(DamagedDataError);
  });

  it('do not put the value into an error', () => {
    const stored = encrypted();
    stored[stored.length - 1] = (stored.at(-1) ?? 0) ^ 1;
    try {
      decryptValue(organizationKey, context, stored);
      expect.unreachable();
    } catch (error) {
      expect(String(error instanceof Error ? error.stack : error)).not.toContain('pa#ss');
    }
  });
});

describe('decrypt', () => {
  it('rejects a truncated authentication tag', () => {
    const key = randomBytes(32);
    const whole = encrypt(key, Buffer.from('here'), value, randomBytes);
    expect(() => decrypt(key, Buffer.from('here'), whole.subarray(0, whole.length - 12))).toThrow(DamagedDataError);
    expect(decrypt(key, Buffer.from('here'), whole)).toEqual(value);
  });
});

describe('computeSecretValueFingerprint', () => {
  const key = { version: 1, key: randomBytes(32) };
  const at = { setId: context.setId, key: 'A' };

  it('returns equal fingerprints only for the same value, name and set', () => {
    const one = computeSecretValueFingerprint(key, at, value);
    expect(computeSecretValueFingerprint(key, at, value)).toEqual(one);
    expect(computeSecretValueFingerprint(key, { ...at, key: 'B' }, value)).not.toEqual(one);
    expect(computeSecretValueFingerprint(key, { ...at, setId: context.organizationId }, value)).not.toEqual(one);
    expect(computeSecretValueFingerprint({ version: 1, key: randomBytes(32) }, at, value)).not.toEqual(one);
    expect(computeSecretValueFingerprint(key, at, Buffer.from('other'))).not.toEqual(one);
    expect(formatFingerprint(one)).toMatch(/^[0-9a-f]{8}$/);
  });
});

describe('isValidMac', () => {
  const key = { version: 1, key: randomBytes(32) };

  it('returns false if a field, the type of a field, the purpose or a bit of the MAC differs', () => {
    const fields = ['a', 1, null];
    const mac = computeMac(key, 'sets', fields);
    expect(isValidMac(key, 'sets', fields, mac)).toBe(true);
    expect(isValidMac(key, 'revisions', fields, mac)).toBe(false);
    for (const other of [
      ['a', 1],
      ['a', 1, ''],
      ['a', '1', null],
      ['b', 1, null],
      [1, 'a', null],
    ]) {
      expect(isValidMac(key, 'sets', other, mac)).toBe(false);
    }
    for (const bytes of flipped(mac)) expect(isValidMac(key, 'sets', fields, bytes)).toBe(false);
  });
});

describe('createLocalRootKeys', () => {
  const [former, current] = [randomBytes(32), randomBytes(32)];
  const key = randomBytes(32);
  const wrappedKeyContext = Buffer.from('organization 1');

  it('wraps and unwraps with the named key', async () => {
    const before = createLocalRootKeys([former]);
    const wrapped = await before.wrap(key, computeRootKeyId(former), wrappedKeyContext);
    const after = createLocalRootKeys([current, former]);
    expect(await after.unwrap(wrapped, computeRootKeyId(former), wrappedKeyContext)).toEqual(key);
    expect((await after.status()).keyIds).toEqual([computeRootKeyId(current), computeRootKeyId(former)]);
    expect(wrapped.includes(key)).toBe(false);
  });

  it('does not unwrap with another context or key, or with a flipped bit', async () => {
    const keys = createLocalRootKeys([former]);
    const wrapped = await keys.wrap(key, computeRootKeyId(former), wrappedKeyContext);
    await expect(keys.unwrap(wrapped, computeRootKeyId(former), Buffer.from('organization 2'))).rejects.toThrow(
      DamagedDataError,
    );
    await expect(keys.unwrap(wrapped, computeRootKeyId(current), wrappedKeyContext)).rejects.toThrow(
      RootKeyMissingError,
    );
    for (const bytes of flipped(wrapped)) {
      await expect(keys.unwrap(bytes, computeRootKeyId(former), wrappedKeyContext)).rejects.toThrow(DamagedDataError);
    }
  });
});
