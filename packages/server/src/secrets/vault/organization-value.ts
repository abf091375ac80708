import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt, encryptionOverheadBytes } from './aes-gcm.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import { hideBufferFromLogs } from './hide-buffer-from-logs.ts';

/** What a value belongs to. A value that is decrypted for something else is rejected. */
export type OrganizationValueOwner = {
  readonly organizationId: string;
  /** What the value is, and the id of its row, for example `['provider key', 'daily']`. */
  readonly use: readonly string[];
};

const format = 1;
const headBytes = 5;
const saltBytes = 32;

/**
 * Encrypts a value that is in no secret set: format (1 byte), version of the organization's key (4 bytes), salt (32 bytes), and the
 * ciphertext. The encryption key is derived for this value alone.
 */
export function encryptOrganizationValue(
  organizationKey: VersionedKey,
  owner: OrganizationValueOwner,
  value: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(format, 0);
  head.writeUInt32BE(organizationKey.version, 1);
  const salt = random(saltBytes);
  const key = deriveKey(organizationKey.key, salt);
  const encrypted = encrypt(key, associatedData(owner, head), value, random);
  key.fill(0);
  return Buffer.concat([head, salt, encrypted]);
}

/** Returns the version of the organization's key that decrypts a value. @throws DamagedDataError */
export function readOrganizationValueVersion(stored: Buffer): number {
  if (stored.length < headBytes + saltBytes + encryptionOverheadBytes || stored.readUInt8(0) !== format)
    throw new DamagedDataError('the stored value has an unknown format');
  return stored.readUInt32BE(1);
}

/** @throws DamagedDataError if the stored value was changed, or belongs to something else */
export function decryptOrganizationValue(
  organizationKey: VersionedKey,
  owner: OrganizationValueOwner,
  stored: Buffer,
): Buffer {
  const head = stored.subarray(0, headBytes);
  const key = deriveKey(organizationKey.key, stored.subarray(headBytes, headBytes + saltBytes));
  try {
    return hideBufferFromLogs(decrypt(key, associatedData(owner, head), stored.subarray(headBytes + saltBytes)));
  } finally {
    key.fill(0);
  }
}

function deriveKey(organizationKey: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', organizationKey, salt, 'bothost organization value', 32));
}

function associatedData({ organizationId, use }: OrganizationValueOwner, head: Buffer): Buffer {
  return encodeValueList(['bothost organization value', head, organizationId, ...use]);
}
