import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DamagedError } from './damaged.ts';

/** AES-256-GCM. Without `authTagLength`, Node takes a tag of four bytes for a whole one. */
const cipher = 'aes-256-gcm';
const authTagLength = 16;
const ivLength = 12;
export const sealOverhead = ivLength + authTagLength;

/** Encrypts under a 32-byte key and binds `place`. The IV comes from `random` and must never repeat under one key. */
export function seal(key: Buffer, place: Buffer, content: Buffer, random: (bytes: number) => Buffer): Buffer {
  const iv = random(ivLength);
  const sealing = createCipheriv(cipher, key, iv, { authTagLength });
  sealing.setAAD(place);
  const sealed = Buffer.concat([sealing.update(content), sealing.final()]);
  return Buffer.concat([iv, sealed, sealing.getAuthTag()]);
}

/** @throws DamagedError when a single bit of content, key or place is another one */
export function unseal(key: Buffer, place: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < sealOverhead) throw new DamagedError('it is too short to be sealed');
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, ivLength), { authTagLength });
  opening.setAAD(place);
  opening.setAuthTag(sealed.subarray(sealed.length - authTagLength));
  try {
    return Buffer.concat([opening.update(sealed.subarray(ivLength, sealed.length - authTagLength)), opening.final()]);
  } catch (error) {
    throw new DamagedError('it does not open at its place', { cause: error });
  }
}
