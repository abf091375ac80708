// An API key consists of a prefix for its kind, 43 random base-62 characters, and a checksum of six characters, with which
// clients detect mistyped keys. The checksum is the CRC-32 of all preceding characters in base 62.

export const apiKeyPrefixes = { private: 'sk_', public: 'pk_', personal: 'pcc_pat_' } as const;
export type ApiKeyOrTokenKind = keyof typeof apiKeyPrefixes;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretCharacters = 43;
const checksumCharacters = 6;
const keyPattern = new RegExp(
  `^(${Object.values(apiKeyPrefixes).join('|')})[0-9A-Za-z]{${secretCharacters + checksumCharacters}}$`,
);

/**
 * Creates a key from at least 64 random bytes. Skips bytes of 248 or more, so that all characters are equally likely. @throws
 * RangeError if too few bytes remain
 */
export function generateApiKey(kind: ApiKeyOrTokenKind, random: Uint8Array): string {
  let key: string = apiKeyPrefixes[kind];
  const length = key.length + secretCharacters;
  for (const byte of random) {
    if (key.length === length) break;
    if (byte < 248) key += alphabet.charAt(byte % 62);
  }
  if (key.length !== length) throw new RangeError('Too few random bytes for a key.');
  return key + checksum(key);
}

/**
 * Checks the format of a key. `mistyped` means that the checksum is wrong. `foreign` means that the key does not have the format
 * of generated keys, for example because an operator chose it.
 */
export function checkApiKeyFormat(text: string): {
  kind: ApiKeyOrTokenKind | null;
  verdict: 'plausible' | 'mistyped' | 'foreign';
} {
  const kind = kindOf(text);
  if (!keyPattern.test(text)) return { kind, verdict: 'foreign' };
  const body = text.slice(0, -checksumCharacters);
  return { kind, verdict: checksum(body) === text.slice(-checksumCharacters) ? 'plausible' : 'mistyped' };
}

function kindOf(text: string): ApiKeyOrTokenKind | null {
  for (const kind of ['private', 'public', 'personal'] as const) {
    if (text.startsWith(apiKeyPrefixes[kind])) return kind;
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

/** CRC-32 (ISO 3309) of ASCII text. Browsers have no `zlib.crc32`. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
