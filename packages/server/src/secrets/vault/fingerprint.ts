import { encodeValueList } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import { computeHmac } from './mac.ts';

/**
 * Keyed hash of a value, 32 bytes. It shows whether a value changed and reveals nothing without the key. The same value has
 * different fingerprints in different sets and under different keys of a set.
 */
export function computeSecretValueFingerprint(
  key: VersionedKey,
  at: { setId: string; key: string },
  value: Buffer,
): Buffer {
  return computeHmac(key, 'fingerprint', encodeValueList([at.setId, at.key, value]));
}

export function formatFingerprint(fingerprint: Buffer): string {
  return fingerprint.subarray(0, 4).toString('hex');
}
