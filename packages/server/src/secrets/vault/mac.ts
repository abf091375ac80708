import { createHmac, hkdfSync } from 'node:crypto';
import { isEqualInConstantTime } from '../../crypto/constant-time.ts';
import { encodeValueList } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';

type Field = string | number | null;

/** MAC over fields: the key version (4 bytes), then an HMAC-SHA-256. MACs for different purposes never match. */
export function computeMac(key: VersionedKey, purpose: string, fields: readonly Field[]): Buffer {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(key.version);
  return Buffer.concat([version, computeHmac(key, purpose, encodeValueList([key.version, ...fields]))]);
}

/** Returns the version of the key that computed a MAC. Null if the MAC has the wrong length. */
export function readMacKeyVersion(mac: Buffer | null): number | null {
  return mac?.length === 36 ? mac.readUInt32BE(0) : null;
}

export function isValidMac(key: VersionedKey, purpose: string, fields: readonly Field[], mac: Buffer): boolean {
  return isEqualInConstantTime(mac, computeMac(key, purpose, fields));
}

/** Computes the HMAC-SHA-256 of `content` with a key that HKDF derives from `key` and `purpose`. */
export function computeHmac(key: VersionedKey, purpose: string, content: Buffer): Buffer {
  return createHmac('sha256', derivedKey(key.key, purpose)).update(content).digest();
}

/** Derived keys, cached while the original key is in memory, because listing secret sets verifies up to a thousand MACs. */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

function derivedKey(key: Buffer, purpose: string): Buffer {
  const known = derived.get(key) ?? new Map<string, Buffer>();
  derived.set(key, known);
  const own = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, '', `bothost ${purpose}`, 32));
  known.set(purpose, own);
  return own;
}
