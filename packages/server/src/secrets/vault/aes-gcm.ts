import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DamagedDataError } from './damaged-data-error.ts';

const cipher = 'aes-256-gcm';
/** Length of the authentication tag in bytes. Without this option, Node accepts tags of only four bytes. */
const authTagLength = 16;
const ivLength = 12;
export const encryptionOverheadBytes = ivLength + authTagLength;

/** Encrypts with AES-256-GCM and a 32-byte key. The IV comes from `random` and must never repeat for one key. */
export function encrypt(
  key: Buffer,
  associatedData: Buffer,
  content: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const iv = random(ivLength);
  const encryption = createCipheriv(cipher, key, iv, { authTagLength });
  encryption.setAAD(associatedData);
  // The tag exists only after `final`.
  const parts = [iv, encryption.update(content), encryption.final()];
  return Buffer.concat([...parts, encryption.getAuthTag()]);
}

/**
 * Decrypts the result of `encrypt`.
 *
 * @throws DamagedDataError if a bit of the content, the key or the associated data differs
 */
export function decrypt(key: Buffer, associatedData: Buffer, encrypted: Buffer): Buffer {
  if (encrypted.length < encryptionOverheadBytes) throw new DamagedDataError('the encrypted data is too short');
  const decryption = createDecipheriv(cipher, key, encrypted.subarray(0, ivLength), { authTagLength });
  decryption.setAAD(associatedData);
  decryption.setAuthTag(encrypted.subarray(encrypted.length - authTagLength));
  const content = encrypted.subarray(ivLength, encrypted.length - authTagLength);
  try {
    return Buffer.concat([decryption.update(content), decryption.final()]);
  } catch (error) {
    throw new DamagedDataError('the encrypted data does not match its key or its row', { cause: error });
  }
}
