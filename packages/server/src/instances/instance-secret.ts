import { createHmac } from 'node:crypto';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';

/**
 * Returns the secret that authenticates an instance to the service, in URLs that its bot requests. Derived from a key, so that a
 * restarted server accepts it. The control token is for the opposite direction.
 */
export function deriveInstanceSecret(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(`request of instance ${instanceId}`).digest('hex');
}

/** Returns the URL at which an instance requests a path of the service. Null if instances cannot reach the service. */
export function createInstanceUrl(
  { internalUrl, key }: { readonly internalUrl: () => string | null; readonly key: Buffer },
  instanceId: string,
  path: string,
): string | null {
  const url = internalUrl();
  const query = new URLSearchParams({ instance: instanceId, secret: deriveInstanceSecret(key, instanceId) });
  return url === null ? null : `${url}${path}?${query}`;
}

export function isInstanceSecret(key: Buffer, instanceId: string, secret: string): boolean {
  return isEqualInConstantTime(secret, deriveInstanceSecret(key, instanceId));
}
