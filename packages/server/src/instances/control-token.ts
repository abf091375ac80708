import { createHmac } from 'node:crypto';

/**
 * Returns the token that authenticates the service to an instance. The token is derived from a key, so a restarted
 * server computes the same token.
 */
export function deriveControlToken(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(instanceId).digest('hex');
}
