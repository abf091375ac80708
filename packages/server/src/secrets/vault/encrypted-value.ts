import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt, encryptionOverhead } from './aes-gcm.ts';
import { conceal } from './conceal.ts';
import { DamagedError } from './damaged.ts';
import { encode, milliseconds } from './encode.ts';

/** A key of an organization, by its version. */
export type VersionedKey = { readonly version: number; readonly key: Buffer };

/** The associated data of a value: where it belongs, and the plain columns of its row. It decrypts with nothing else. */
export type ValueContext = {
  readonly organizationId: string;
  readonly region: string;
  readonly setId: string;
  readonly kind: 'secret' | 'imagePullSecret';
  readonly key: string;
  /** The revision of the set in which this value was written. */
  readonly revision: number;
  readonly fingerprint: Buffer;
  readonly fingerprintVersion: number;
  readonly bytes: number;
  readonly createdAt: Date;
};

const format = 1;
const algorithm = 1;
const saltLength = 32;
const headLength = 6;

/**
 * A value as it is stored: format (1 byte), algorithm (1 byte), version of the organization's key (4 bytes), salt (32 bytes),
 * then the ciphertext under a key that is derived for this value alone.
 */
export function encryptValue(
  organizationKey: VersionedKey,
  context: ValueContext,
  value: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(format, 0);
  head.writeUInt8(algorithm, 1);
  head.writeUInt32BE(organizationKey.version, 2);
  const salt = random(saltLength);
  const key = valueKey(organizationKey.key, salt);
  const encrypted = encrypt(key, associatedData(context, head), value, random);
  key.fill(0);
  return Buffer.concat([head, salt, encrypted]);
}

/** The version of the organization's key that a stored value needs. @throws DamagedError */
export function keyVersionOf(stored: Buffer): number {
  if (stored.length < headLength + saltLength + encryptionOverhead) throw new DamagedError('the value is too short');
  if (stored.readUInt8(0) !== format) throw new DamagedError('the value has an unknown format');
  if (stored.readUInt8(1) !== algorithm) throw new DamagedError('the value has an unknown algorithm');
  return stored.readUInt32BE(2);
}

/** @throws DamagedError */
export function decryptValue(organizationKey: VersionedKey, context: ValueContext, stored: Buffer): Buffer {
  if (keyVersionOf(stored) !== organizationKey.version) throw new DamagedError('the value needs another key');
  const head = stored.subarray(0, headLength);
  const key = valueKey(organizationKey.key, stored.subarray(headLength, headLength + saltLength));
  try {
    const value = decrypt(key, associatedData(context, head), stored.subarray(headLength + saltLength));
    if (value.length !== context.bytes) throw new DamagedError('the value has another length');
    return conceal(value);
  } finally {
    key.fill(0);
  }
}

function valueKey(organizationKey: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', organizationKey, salt, 'bothost secret value', 32));
}

function associatedData(context: ValueContext, head: Buffer): Buffer {
  return encode([
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
    milliseconds(context.createdAt),
  ]);
}
