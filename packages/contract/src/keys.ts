/**
 * The form of API keys (decisions, "keys"): a prefix that says the kind, 43 characters of base 62, and six more that are
 * the base-62 CRC-32 of all before them, so that a mistyped key can be told without asking anyone.
 */

export const keyPrefixes = { private: 'sk_', public: 'pk_', personal: 'pcc_pat_' } as const;
export type KeyKind = keyof typeof keyPrefixes;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyPattern = /^(sk|pk|pcc_pat)_[0-9A-Za-z]{49}$/;
const secretCharacters = 43;
const checksumCharacters = 6;

/**
 * Makes a key from random bytes (at least 64; a byte of 248 or more is skipped so that each character is equally likely).
 * Throws a RangeError when the bytes run out.
 */
export function makeKey(kind: KeyKind, random: Uint8Array): string {
  let key: string = keyPrefixes[kind];
  const length = key.length + secretCharacters;
  for (const byte of random) {
    if (key.length === length) break;
    if (byte < 248) key += alphabet.charAt(byte % 62);
  }
  if (key.length !== length) throw new RangeError('not enough random bytes for a key');
  return key + checksum(key);
}

/**
 * What can be said of a key without asking the service. `mistyped`: exactly the form of a key, with a wrong checksum.
 * `foreign`: another form (an operator may have chosen it), nothing can be said.
 */
export function inspectKey(text: string): { kind: KeyKind | null; verdict: 'plausible' | 'mistyped' | 'foreign' } {
  const kind = kindOf(text);
  if (!keyPattern.test(text)) return { kind, verdict: 'foreign' };
  const body = text.slice(0, -checksumCharacters);
  return { kind, verdict: checksum(body) === text.slice(-checksumCharacters) ? 'plausible' : 'mistyped' };
}

function kindOf(text: string): KeyKind | null {
  for (const kind of ['private', 'public', 'personal'] as const) {
    if (text.startsWith(keyPrefixes[kind])) return kind;
  }
  return null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumCharacters; index += 1) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** CRC-32 of ASCII text (ISO 3309, the polynomial of zip and PNG). Node's own is in zlib, which browsers lack. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
