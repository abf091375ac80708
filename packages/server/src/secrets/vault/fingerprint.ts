import { encode } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import { hmac } from './mac.ts';

/**
 * Keyed hash of a value, 32 bytes: shows whether a value changed, and reveals nothing without the key. The same value has
 * different fingerprints in two sets and under two keys of a set.
 */
export function fingerprintOf(key: VersionedKey, at: { setId: string; key: string }, value: Buffer): Buffer {
  return hmac(key, 'fingerprint', encode([at.setId, at.key, value]));
}

/** A fingerprint as people see it: 8 hexadecimal digits. */
export function shownFingerprint(fingerprint: Buffer): string {
  return fingerprint.subarray(0, 4).toString('hex');
}
