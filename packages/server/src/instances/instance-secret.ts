import { createHmac } from 'node:crypto';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';

/**
 * Returns the secret that authenticates an instance to the service, in URLs that its bot requests. Derived from a key, so that a
 * restarted server accepts it. The control token is for the opposite direction.
 */
export function deriveInstanceSecret(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(`request of instance ${instanceId}`).digest('hex');
}

export function isInstanceSecret(key: Buffer, instanceId: string, secret: string): boolean {
  return isEqualInConstantTime(secret, deriveInstanceSecret(key, instanceId));
}
