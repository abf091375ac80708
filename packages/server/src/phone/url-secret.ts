import { createHmac } from 'node:crypto';
import type { PhoneCarrier } from '@bothost/contract';
import { isEqualText } from './signatures.ts';

/** The secret in the URL at which a carrier asks for the call documents of an agent. It changes with the agent. */
export function deriveUrlSecret(key: Buffer, carrier: PhoneCarrier, agentId: string): string {
  return createHmac('sha256', key).update(`${carrier} ${agentId}`).digest('base64url');
}

export function isUrlSecret(key: Buffer, carrier: PhoneCarrier, agentId: string, secret: string): boolean {
  return isEqualText(secret, deriveUrlSecret(key, carrier, agentId));
}
