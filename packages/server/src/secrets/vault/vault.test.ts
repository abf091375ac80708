import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decrypt, encrypt } from './aes-gcm.ts';
import { DamagedError } from './damaged.ts';
import { encode } from './encode.ts';
import { decryptValue, encryptValue, keyVersionOf, type ValueContext } from './encrypted-value.ts';
import { fingerprintOf, shownFingerprint } from './fingerprint.ts';
import { isMac, macOf } from './mac.ts';
import { localRootKeys, RootKeyMissing, rootKeyId } from './root-key.ts';

const organizationKey = { version: 3, key: randomBytes(32) };
const value = Buffer.from('pa#ss "wörd"\n');
const context: ValueContext = {
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

/** Copies of the bytes, each with one bit flipped. */
function* flipped(bytes: Buffer) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield copy;
  }
}

describe('encode', () => {
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
        expect(encode(one).equals(encode(other))).toBe(same(one, other));
      }),
      { numRuns: 2_000 },
    );
    expect(encode(['ab', 'c'])).not.toEqual(encode(['a', 'bc']));
    expect(encode(['1'])).not.toEqual(encode([1]));
    expect(encode([''])).not.toEqual(encode([null]));
    expect(encode([-0])).toEqual(encode([0]));
  });
});

describe('encryptValue and decryptValue', () => {
  it('decrypt what was encrypted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_000 }), (bytes) => {
        const content = Buffer.from(bytes);
        const at = { ...context, bytes: content.length };
        const stored = encryptValue(organizationKey, at, content, randomBytes);
        expect(decryptValue(organizationKey, at, stored).equals(content)).toBe(true);
        expect(keyVersionOf(stored)).toBe(organizationKey.version);
      }),
      { numRuns: 500 },
    );
  });

  it('return a different ciphertext each time, without the plaintext', () => {
    expect(encrypted()).not.toEqual(encrypted());
    expect(encrypted().includes(value.subarray(0, 6))).toBe(false);
  });

  it('never reuse a salt or an IV', () => {
    const [one, other] = [encrypted(), encrypted()];
    // After format, algorithm and version: 32 bytes of salt, then 12 of IV.
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
      expect(() => decryptValue(organizationKey, context, bytes)).toThrow(DamagedError);
      tried += 1;
    }
    expect(tried).toBe(stored.length * 8);
  });

  it('reject a truncated or extended ciphertext', () => {
    const stored = encrypted();
    for (let length = 0; length < stored.length; length += 1) {
      expect(() => decryptValue(organizationKey, context, stored.subarray(0, length))).toThrow(DamagedError);
    }
    expect(() => decryptValue(organizationKey, context, Buffer.concat([stored, Buffer.alloc(1)]))).toThrow(
      DamagedError,
    );
  });

  it('reject a ciphertext with any other associated data', () => {
    const others: { [Field in keyof ValueContext]: ValueContext[Field] } = {
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
      expect(() => decryptValue(organizationKey, elsewhere, stored), field).toThrow(DamagedError);
    }
    const swapped = { ...context, region: context.key, key: context.region };
    expect(() => decryptValue(organizationKey, swapped, stored)).toThrow(DamagedError);
  });

  it('reject another key, and the same key under another version', () => {
    const stored = encrypted();
    expect(() => decryptValue({ version: 3, key: randomBytes(32) }, context, stored)).toThrow(DamagedError);
    expect(() => decryptValue({ ...organizationKey, version: 4 }, context, stored)).toThrow(DamagedError);
    // Even if the head of the ciphertext names that version.
    stored.writeUInt32BE(4, 2);
    expect(() => decryptValue({ ...organizationKey, version: 4 }, context, stored)).toThrow(DamagedError);
  });

  it('do not put the value into the error', () => {
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
    expect(() => decrypt(key, Buffer.from('here'), whole.subarray(0, whole.length - 12))).toThrow(DamagedError);
    expect(decrypt(key, Buffer.from('here'), whole)).toEqual(value);
  });
});

describe('fingerprintOf', () => {
  const key = { version: 1, key: randomBytes(32) };
  const at = { setId: context.setId, key: 'A' };

  it('is equal only for the same value at the same key of the same set', () => {
    const one = fingerprintOf(key, at, value);
    expect(fingerprintOf(key, at, value)).toEqual(one);
    expect(fingerprintOf(key, { ...at, key: 'B' }, value)).not.toEqual(one);
    expect(fingerprintOf(key, { ...at, setId: context.organizationId }, value)).not.toEqual(one);
    expect(fingerprintOf({ version: 1, key: randomBytes(32) }, at, value)).not.toEqual(one);
    expect(fingerprintOf(key, at, Buffer.from('other'))).not.toEqual(one);
    expect(shownFingerprint(one)).toMatch(/^[0-9a-f]{8}$/);
  });
});

describe('isMac', () => {
  const key = { version: 1, key: randomBytes(32) };

  it('rejects another field, type of a field, purpose or bit of the MAC', () => {
    const fields = ['a', 1, null];
    const mac = macOf(key, 'sets', fields);
    expect(isMac(key, 'sets', fields, mac)).toBe(true);
    expect(isMac(key, 'revisions', fields, mac)).toBe(false);
    for (const other of [
      ['a', 1],
      ['a', 1, ''],
      ['a', '1', null],
      ['b', 1, null],
      [1, 'a', null],
    ]) {
      expect(isMac(key, 'sets', other, mac)).toBe(false);
    }
    for (const bytes of flipped(mac)) expect(isMac(key, 'sets', fields, bytes)).toBe(false);
  });
});

describe('localRootKeys', () => {
  const [former, current] = [randomBytes(32), randomBytes(32)];
  const key = randomBytes(32);
  const keyContext = Buffer.from('organization 1');

  it('wraps and unwraps with the key that is named', async () => {
    const before = localRootKeys([former]);
    const wrapped = await before.wrap(key, rootKeyId(former), keyContext);
    const after = localRootKeys([current, former]);
    expect(await after.unwrap(wrapped, rootKeyId(former), keyContext)).toEqual(key);
    expect((await after.status()).keyIds).toEqual([rootKeyId(current), rootKeyId(former)]);
    expect(wrapped.includes(key)).toBe(false);
  });

  it('does not unwrap with another context or key, or with a flipped bit', async () => {
    const keys = localRootKeys([former]);
    const wrapped = await keys.wrap(key, rootKeyId(former), keyContext);
    await expect(keys.unwrap(wrapped, rootKeyId(former), Buffer.from('organization 2'))).rejects.toThrow(DamagedError);
    await expect(keys.unwrap(wrapped, rootKeyId(current), keyContext)).rejects.toThrow(RootKeyMissing);
    for (const bytes of flipped(wrapped)) {
      await expect(keys.unwrap(bytes, rootKeyId(former), keyContext)).rejects.toThrow(DamagedError);
    }
  });
});
