import { createHmac } from 'node:crypto';

/**
 * The secret by which an instance knows the service (`BOT_CONTROL_TOKEN`, bot contract 2.4). Derived, not stored: a server
 * that comes back makes the same one.
 */
export function controlToken(key: Buffer, instanceId: string): string {
  return createHmac('sha256', key).update(instanceId).digest('hex');
}
