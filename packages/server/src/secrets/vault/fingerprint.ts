import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { encode } from './encode.ts';
import type { VersionedKey } from './sealed-value.ts';

/**
 * A keyed hash of a value at its key: tells whether it changed, and nothing to who has no key. Two sets, or two keys of one,
 * with the same value have different ones. 32 bytes.
 */
export function fingerprintOf(key: VersionedKey, at: { setId: string; key: string }, value: Buffer): Buffer {
  return hmac(key, 'fingerprint', encode([at.setId, at.key, value]));
}

/** What people see of a fingerprint: 8 hexadecimal digits. */
export function shownFingerprint(fingerprint: Buffer): string {
  return fingerprint.subarray(0, 4).toString('hex');
}

/** A keyed hash over the open fields of a row, so that none can be changed in the database. 4 bytes of version, then 32. */
export function stampRow(key: VersionedKey, table: string, fields: readonly (string | number | null)[]): Buffer {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(key.version);
  return Buffer.concat([version, hmac(key, `row of ${table}`, encode([key.version, ...fields]))]);
}

export function stampVersion(stamp: Buffer): number | null {
  return stamp.length === 36 ? stamp.readUInt32BE(0) : null;
}

export function isStamp(
  key: VersionedKey,
  table: string,
  fields: readonly (string | number | null)[],
  stamp: Buffer,
): boolean {
  const right = stampRow(key, table, fields);
  return right.length === stamp.length && timingSafeEqual(right, stamp);
}

function hmac(key: VersionedKey, purpose: string, content: Buffer): Buffer {
  return createHmac('sha256', keyFor(key.key, purpose)).update(content).digest();
}

/** For as long as the key that they come from is at hand: a list checks thousands of rows. */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

function keyFor(key: Buffer, purpose: string): Buffer {
  const known = derived.get(key) ?? new Map<string, Buffer>();
  derived.set(key, known);
  const own = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, '', `bothost ${purpose}`, 32));
  known.set(purpose, own);
  return own;
}
