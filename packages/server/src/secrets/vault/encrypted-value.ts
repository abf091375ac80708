import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt, encryptionOverheadBytes } from './aes-gcm.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList, toEpochMilliseconds } from './encode.ts';
import { hideBufferFromLogs } from './hide-buffer-from-logs.ts';

export type VersionedKey = { readonly version: number; readonly key: Buffer };

/** The columns that identify a value's row. A value is rejected if it is decrypted with other associated data. */
export type SecretEncryptionContext = {
  readonly organizationId: string;
  readonly region: string;
  readonly setId: string;
  readonly kind: 'secret' | 'imagePullSecret';
  readonly key: string;
  readonly revision: number;
  readonly fingerprint: Buffer;
  readonly fingerprintVersion: number;
  readonly bytes: number;
  readonly createdAt: Date;
};

const format = 1;
const algorithm = 1;
const saltBytes = 32;
const headBytes = 6;

/**
 * Encrypts a value into its stored form: format (1 byte), algorithm (1 byte), version of the organization's key (4 bytes), salt
 * (32 bytes), and the ciphertext. The encryption key is derived for this value alone.
 */
export function encryptValue(
  organizationKey: VersionedKey,
  context: SecretEncryptionContext,
  value: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(format, 0);
  head.writeUInt8(algorithm, 1);
  head.writeUInt32BE(organizationKey.version, 2);
  const salt = random(saltBytes);
  const key = valueKey(organizationKey.key, salt);
  const encrypted = encrypt(key, associatedData(context, head), value, random);
  key.fill(0);
  return Buffer.concat([head, salt, encrypted]);
}

/** Returns the version of the organization's key that decrypts a stored value. @throws DamagedDataError */
export function readKeyVersion(stored: Buffer): number {
  if (stored.length < headBytes + saltBytes + encryptionOverheadBytes)
    throw new DamagedDataError('the stored value is too short');
  if (stored.readUInt8(0) !== format) throw new DamagedDataError('the value has an unknown format');
  if (stored.readUInt8(1) !== algorithm) throw new DamagedDataError('the value has an unknown algorithm');
  return stored.readUInt32BE(2);
}

/** @throws DamagedDataError if the stored form was changed, or if `context` is not that of the encryption */
export function decryptValue(organizationKey: VersionedKey, context: SecretEncryptionContext, stored: Buffer): Buffer {
  if (readKeyVersion(stored) !== organizationKey.version)
    throw new DamagedDataError('the value is encrypted with another version of the key');
  const head = stored.subarray(0, headBytes);
  const key = valueKey(organizationKey.key, stored.subarray(headBytes, headBytes + saltBytes));
  try {
    const value = decrypt(key, associatedData(context, head), stored.subarray(headBytes + saltBytes));
    if (value.length !== context.bytes) throw new DamagedDataError('the decrypted value has the wrong length');
    return hideBufferFromLogs(value);
  } finally {
    key.fill(0);
  }
}

function valueKey(organizationKey: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', organizationKey, salt, 'bothost secret value', 32));
}

function associatedData(context: SecretEncryptionContext, head: Buffer): Buffer {
  return encodeValueList([
    'bothost secret value',
    head,
    context.organizationId,
    context.region,
    context.setId,
    context.kind,
    context.key,
    context.revision,
    context.fingerprint,
    context.fingerprintVersion,
    context.bytes,
    toEpochMilliseconds(context.createdAt),
  ]);
}
