import { createHmac } from 'node:crypto';

/**
 * The secret that authenticates the service to an instance (`BOT_CONTROL_TOKEN`). Derived instead of stored, so that the next
 * server computes the same one.
 */
export function controlToken(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(instanceId).digest('hex');
}
