import { createHmac } from 'node:crypto';

/**
 * The secret by which an instance authenticates the service (`BOT_CONTROL_TOKEN`). Derived instead of stored, so that a
 * restarted server computes the same value.
 */
export function controlToken(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(instanceId).digest('hex');
}
