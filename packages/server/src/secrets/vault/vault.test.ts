import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DamagedError } from './damaged.ts';
import { encode } from './encode.ts';
import { fingerprintOf, isStamp, shownFingerprint, stampRow } from './fingerprint.ts';
import { localRootKeys, RootKeyMissing, rootKeyId } from './root-key.ts';
import { seal, unseal } from './seal.ts';
import { keyVersionOf, openValue, sealValue, type ValuePlace } from './sealed-value.ts';

const organizationKey = { version: 3, key: randomBytes(32) };
const value = Buffer.from('pa#ss "wörd"\n');
const place: ValuePlace = {
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
const sealed = () => sealValue(organizationKey, place, value, randomBytes);

/** The same bytes with one bit turned, for each bit. */
function* flipped(bytes: Buffer) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield copy;
  }
}

describe('a list of parts', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => !/\p{Cs}/u.test(text)),
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  );
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

  it('gives bytes that no other list gives', () => {
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

describe('a sealed value', () => {
  it('opens at its place, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_000 }), (bytes) => {
        const content = Buffer.from(bytes);
        const at = { ...place, bytes: content.length };
        const stored = sealValue(organizationKey, at, content, randomBytes);
        expect(openValue(organizationKey, at, stored).equals(content)).toBe(true);
        expect(keyVersionOf(stored)).toBe(organizationKey.version);
      }),
      { numRuns: 500 },
    );
  });

  it('is another one each time, and holds nothing of the value', () => {
    expect(sealed()).not.toEqual(sealed());
    expect(sealed().includes(value.subarray(0, 6))).toBe(false);
  });

  it('shares neither its salt nor its IV with another', () => {
    const [one, other] = [sealed(), sealed()];
    // After format, algorithm and version: 32 bytes of salt, then 12 of IV.
    for (const [from, to] of [
      [6, 38],
      [38, 50],
    ]) {
      expect(one.subarray(from, to)).not.toEqual(other.subarray(from, to));
    }
  });

  it('does not open with any one bit changed', () => {
    const stored = sealed();
    let tried = 0;
    for (const bytes of flipped(stored)) {
      expect(() => openValue(organizationKey, place, bytes)).toThrow(DamagedError);
      tried += 1;
    }
    expect(tried).toBe(stored.length * 8);
  });

  it('does not open when cut or longer', () => {
    const stored = sealed();
    for (let length = 0; length < stored.length; length += 1) {
      expect(() => openValue(organizationKey, place, stored.subarray(0, length))).toThrow(DamagedError);
    }
    expect(() => openValue(organizationKey, place, Buffer.concat([stored, Buffer.alloc(1)]))).toThrow(DamagedError);
  });

  it('opens at no other place', () => {
    const others: { [Field in keyof ValuePlace]: ValuePlace[Field] } = {
      organizationId: place.setId,
      region: 'us-wes',
      setId: place.organizationId,
      kind: 'imagePullSecret',
      key: 'API_KE',
      revision: 5,
      fingerprint: randomBytes(32),
      fingerprintVersion: 2,
      bytes: value.length + 1,
      createdAt: new Date(place.createdAt.getTime() + 1),
    };
    const stored = sealed();
    for (const [field, other] of Object.entries(others)) {
      const elsewhere = { ...place, [field]: other };
      expect(() => openValue(organizationKey, elsewhere, stored), field).toThrow(DamagedError);
    }
    const turned = { ...place, region: place.key, key: place.region };
    expect(() => openValue(organizationKey, turned, stored)).toThrow(DamagedError);
  });

  it('does not open with another key, nor with the same under another version', () => {
    const stored = sealed();
    expect(() => openValue({ version: 3, key: randomBytes(32) }, place, stored)).toThrow(DamagedError);
    expect(() => openValue({ ...organizationKey, version: 4 }, place, stored)).toThrow(DamagedError);
    // Also where the value itself says so.
    stored.writeUInt32BE(4, 2);
    expect(() => openValue({ ...organizationKey, version: 4 }, place, stored)).toThrow(DamagedError);
  });

  it('says nothing of itself when it does not open', () => {
    const stored = sealed();
    stored[stored.length - 1] = (stored.at(-1) ?? 0) ^ 1;
    try {
      openValue(organizationKey, place, stored);
      expect.unreachable();
    } catch (error) {
      expect(String(error instanceof Error ? error.stack : error)).not.toContain('pa#ss');
    }
  });
});

describe('sealing', () => {
  it('takes no short tag for a whole one', () => {
    const key = randomBytes(32);
    const whole = seal(key, Buffer.from('here'), value, randomBytes);
    expect(() => unseal(key, Buffer.from('here'), whole.subarray(0, whole.length - 12))).toThrow(DamagedError);
    expect(unseal(key, Buffer.from('here'), whole)).toEqual(value);
  });
});

describe('a fingerprint', () => {
  const key = { version: 1, key: randomBytes(32) };
  const at = { setId: place.setId, key: 'A' };

  it('is the same for the same value at the same key only', () => {
    const one = fingerprintOf(key, at, value);
    expect(fingerprintOf(key, at, value)).toEqual(one);
    expect(fingerprintOf(key, { ...at, key: 'B' }, value)).not.toEqual(one);
    expect(fingerprintOf(key, { ...at, setId: place.organizationId }, value)).not.toEqual(one);
    expect(fingerprintOf({ version: 1, key: randomBytes(32) }, at, value)).not.toEqual(one);
    expect(fingerprintOf(key, at, Buffer.from('other'))).not.toEqual(one);
    expect(shownFingerprint(one)).toMatch(/^[0-9a-f]{8}$/);
  });

  it('of a row is no more when a field, its type, the table or a bit of it changes', () => {
    const fields = ['a', 1, null];
    const stamp = stampRow(key, 'sets', fields);
    expect(isStamp(key, 'sets', fields, stamp)).toBe(true);
    expect(isStamp(key, 'revisions', fields, stamp)).toBe(false);
    for (const other of [
      ['a', 1],
      ['a', 1, ''],
      ['a', '1', null],
      ['b', 1, null],
      [1, 'a', null],
    ]) {
      expect(isStamp(key, 'sets', other, stamp)).toBe(false);
    }
    for (const bytes of flipped(stamp)) expect(isStamp(key, 'sets', fields, bytes)).toBe(false);
  });
});

describe('root keys', () => {
  const [old, young] = [randomBytes(32), randomBytes(32)];
  const key = randomBytes(32);
  const context = Buffer.from('organization 1');

  it('wrap and unwrap with the one that is named', async () => {
    const before = localRootKeys([old]);
    const wrapped = await before.wrap(key, rootKeyId(old), context);
    const after = localRootKeys([young, old]);
    expect(await after.unwrap(wrapped, rootKeyId(old), context)).toEqual(key);
    expect((await after.status()).keyIds).toEqual([rootKeyId(young), rootKeyId(old)]);
    expect(wrapped.includes(key)).toBe(false);
  });

  it('do not unwrap what was wrapped for another context, with another key, or changed by a bit', async () => {
    const keys = localRootKeys([old]);
    const wrapped = await keys.wrap(key, rootKeyId(old), context);
    await expect(keys.unwrap(wrapped, rootKeyId(old), Buffer.from('organization 2'))).rejects.toThrow(DamagedError);
    await expect(keys.unwrap(wrapped, rootKeyId(young), context)).rejects.toThrow(RootKeyMissing);
    for (const bytes of flipped(wrapped)) {
      await expect(keys.unwrap(bytes, rootKeyId(old), context)).rejects.toThrow(DamagedError);
    }
  });
});
