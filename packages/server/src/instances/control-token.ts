import { createHmac } from 'node:crypto';

/** Authenticates the service to an instance. Derived from a key, so that a restarted server computes the same token. */
export function deriveControlToken(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(instanceId).digest('hex');
}
