import { createHmac } from 'node:crypto';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';

/** Token `<Unix seconds>.<base64url HMAC-SHA256>`: allows uploading one archive until this time. Never part of a URL. */
export function signUploadToken(key: Buffer, uploadId: string, expiresAt: Date): string {
  const seconds = String(Math.floor(expiresAt.getTime() / 1000));
  return `${seconds}.${signature(key, uploadId, seconds).toString('base64url')}`;
}

export function isValidUploadToken(key: Buffer, uploadId: string, token: string, now: Date): boolean {
  const [seconds = '', sent = '', ...rest] = token.split('.');
  const isSigned = isEqualInConstantTime(Buffer.from(sent, 'base64url'), signature(key, uploadId, seconds));
  return isSigned && rest.length === 0 && Number(seconds) * 1000 > now.getTime();
}

function signature(key: Buffer, uploadId: string, seconds: string): Buffer {
  return createHmac('sha256', key).update(`${uploadId.toLowerCase()} ${seconds}`).digest();
}
