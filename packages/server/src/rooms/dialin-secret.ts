import { createHmac, timingSafeEqual } from 'node:crypto';

/** The secret in the address at which calls for an agent are announced. It changes with the agent. */
export function deriveDialinSecret(key: Buffer, agentId: string): string {
  return createHmac('sha256', key).update(agentId).digest('base64url');
}

export function isDialinSecret(key: Buffer, agentId: string, secret: string): boolean {
  const expected = Buffer.from(deriveDialinSecret(key, agentId));
  const given = Buffer.from(secret);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
