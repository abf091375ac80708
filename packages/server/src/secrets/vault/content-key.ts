import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt, encryptionOverheadBytes } from './aes-gcm.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList } from './encode.ts';
import type { VersionedKey } from './encrypted-value.ts';
import { hideBufferFromLogs } from './hide-buffer-from-logs.ts';

/** What a key belongs to: the content of a session, or a webhook. A key that is unwrapped for something else is rejected. */
export type ContentKeyOwner = { readonly organizationId: string } & (
  | { readonly sessionId: string }
  | { readonly webhookId: string }
);

const format = 1;
const headBytes = 5;
const keyBytes = 32;

/**
 * Wraps the key that encrypts the content of a session or signs the requests of a webhook with a key of the organization: format
 * (1 byte), version of the organization's key (4 bytes), and the ciphertext. To delete the content for good, delete the wrapped
 * key.
 */
export function wrapContentKey(
  organizationKey: VersionedKey,
  owner: ContentKeyOwner,
  contentKey: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(format, 0);
  head.writeUInt32BE(organizationKey.version, 1);
  const key = wrappingKey(organizationKey.key);
  const wrapped = encrypt(key, associatedData(owner, head), contentKey, random);
  key.fill(0);
  return Buffer.concat([head, wrapped]);
}

/** Returns the version of the organization's key that unwraps a content key. @throws DamagedDataError */
export function readContentKeyVersion(wrapped: Buffer): number {
  if (wrapped.length !== headBytes + keyBytes + encryptionOverheadBytes || wrapped.readUInt8(0) !== format)
    throw new DamagedDataError('the content key has an unknown format');
  return wrapped.readUInt32BE(1);
}

/** @throws DamagedDataError if the wrapped key was changed, or belongs to another session or webhook */
export function unwrapContentKey(organizationKey: VersionedKey, owner: ContentKeyOwner, wrapped: Buffer): Buffer {
  const head = wrapped.subarray(0, headBytes);
  const key = wrappingKey(organizationKey.key);
  try {
    return hideBufferFromLogs(decrypt(key, associatedData(owner, head), wrapped.subarray(headBytes)));
  } finally {
    key.fill(0);
  }
}

function wrappingKey(organizationKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', organizationKey, '', 'bothost content key', keyBytes));
}

function associatedData(owner: ContentKeyOwner, head: Buffer): Buffer {
  const [label, ownerId] =
    'sessionId' in owner ? ['bothost content key', owner.sessionId] : ['bothost webhook key', owner.webhookId];
  return encodeValueList([label, head, owner.organizationId, ownerId]);
}
