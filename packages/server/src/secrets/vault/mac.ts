import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { encode } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';

type Field = string | number | null;

/** MAC over the fields of a row: 4 bytes with the version of the key, then HMAC-SHA-256. `purpose` separates kinds of rows. */
export function macOf(key: VersionedKey, purpose: string, fields: readonly Field[]): Buffer {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(key.version);
  return Buffer.concat([version, hmac(key, purpose, encode([key.version, ...fields]))]);
}

/** The version of the key that a MAC was made with; null if it is not a MAC. */
export function macVersion(mac: Buffer | null): number | null {
  return mac?.length === 36 ? mac.readUInt32BE(0) : null;
}

/** Compares in constant time. */
export function isMac(key: VersionedKey, purpose: string, fields: readonly Field[], mac: Buffer): boolean {
  const expected = macOf(key, purpose, fields);
  return expected.length === mac.length && timingSafeEqual(expected, mac);
}

/** HMAC-SHA-256 with a key that is derived for this purpose. */
export function hmac(key: VersionedKey, purpose: string, content: Buffer): Buffer {
  return createHmac('sha256', derivedKey(key.key, purpose)).update(content).digest();
}

/** Derived keys, for as long as their key is in memory: a list verifies up to a thousand MACs. */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

function derivedKey(key: Buffer, purpose: string): Buffer {
  const known = derived.get(key) ?? new Map<string, Buffer>();
  derived.set(key, known);
  const own = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, '', `bothost ${purpose}`, 32));
  known.set(purpose, own);
  return own;
}
