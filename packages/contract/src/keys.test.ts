import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApiKeyOrTokenKind, apiKeyPrefixes, checkApiKeyFormat, generateApiKey } from './keys.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const kind = fc.constantFrom<ApiKeyOrTokenKind>('private', 'public', 'personal');
/** 64 random bytes that `generateApiKey` accepts, because at least 43 of them are below 248. */
const random = fc.uint8Array({ minLength: 64, maxLength: 64, max: 247 });

describe('generateApiKey', () => {
  it('returns a key that existing clients and checkApiKeyFormat accept', () => {
    fc.assert(
      fc.property(kind, random, (kind, random) => {
        const key = generateApiKey(kind, random);
        expect(key).toMatch(/^(sk|pk|pcc_pat)_[0-9A-Za-z]{49}$/);
        expect(key.startsWith(apiKeyPrefixes[kind])).toBe(true);
        expect(checkApiKeyFormat(key)).toEqual({ kind, verdict: 'plausible' });
      }),
    );
  });

  it('appends the CRC-32 of the preceding characters in base 62', () => {
    fc.assert(
      fc.property(kind, random, (kind, random) => {
        const key = generateApiKey(kind, random);
        const digits = [...key.slice(-6)].map((digit) => alphabet.indexOf(digit));
        expect(digits.reduce((sum, digit) => sum * 62 + digit, 0)).toBe(crc32(key.slice(0, -6)));
      }),
    );
  });

  it('returns a key in which checkApiKeyFormat detects any change of one character', () => {
    fc.assert(
      fc.property(kind, random, fc.nat(), fc.constantFrom(...alphabet), (kind, random, place, character) => {
        const key = generateApiKey(kind, random);
        const index = place % key.length;
        fc.pre(key.charAt(index) !== character);
        const changed = key.slice(0, index) + character + key.slice(index + 1);
        const { verdict } = checkApiKeyFormat(changed);
        expect(verdict).toBe(/^(sk|pk|pcc_pat)_[0-9A-Za-z]{49}$/.test(changed) ? 'mistyped' : 'foreign');
      }),
      { numRuns: 1_000 },
    );
  });

  it('returns a key in which checkApiKeyFormat detects any swap of two neighboring characters', () => {
    fc.assert(
      fc.property(kind, random, fc.nat(47), (kind, random, place) => {
        const key = generateApiKey(kind, random);
        const at = key.length - 49 + place;
        const [first, second] = [key.charAt(at), key.charAt(at + 1)];
        fc.pre(first !== second);
        expect(checkApiKeyFormat(key.slice(0, at) + second + first + key.slice(at + 2)).verdict).toBe('mistyped');
      }),
    );
  });

  it('uses all characters of the alphabet about equally often', () => {
    const counts = new Map<string, number>();
    const keys = 2_000;
    for (let index = 0; index < keys; index += 1) {
      for (const character of generateApiKey('private', randomBytes(96)).slice(3, -6)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const mean = (keys * 43) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - mean) / mean).toBeLessThan(0.2);
  });

  it('throws if there are too few random bytes', () => {
    expect(() => generateApiKey('private', new Uint8Array(42))).toThrow(RangeError);
    expect(() => generateApiKey('private', new Uint8Array(200).fill(255))).toThrow(RangeError);
  });
});

describe('checkApiKeyFormat', () => {
  it.each([
    ['', null],
    ['hello', null],
    ['sk_', 'private'],
    ['sk_operator-chosen-key-of-some-length-0123456789', 'private'],
    ['pk_short', 'public'],
    ['pcc_pat_short', 'personal'],
  ])(
    'returns for the malformed key %j the verdict "foreign" and the key kind that its prefix indicates: %s',
    (text, kind) => {
      expect(checkApiKeyFormat(text)).toEqual({ kind, verdict: 'foreign' });
    },
  );
});
