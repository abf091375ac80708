import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';

/**
 * Payload of a session token: the one session for which it is valid, and its expiry in Unix seconds. Only a token with
 * `organizationId` also opens the session proxy. It contains the id, because the organization may be renamed during the session.
 */
const Payload = z.object({
  agent: z.string(),
  org: z.string(),
  session: z.string(),
  exp: z.number(),
  organizationId: z.string().optional(),
});
export type TokenPayload = z.infer<typeof Payload>;

/** Token `<base64url payload>.<base64url HMAC-SHA256>`: opens one WebSocket, because a session waits for only one client. */
export function signToken(key: Buffer, payload: TokenPayload): string {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `${text}.${signature(key, text).toString('base64url')}`;
}

/** Returns the payload of a token. Null if the signature is invalid or the token has expired. */
export function verifyToken(key: Buffer, token: string, now: Date): TokenPayload | null {
  const [text = '', sent = '', ...rest] = token.split('.');
  const isSigned = isEqualInConstantTime(Buffer.from(sent, 'base64url'), signature(key, text));
  if (!isSigned || rest.length > 0) return null;
  const payload = Payload.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  return payload.exp * 1000 > now.getTime() ? payload : null;
}

function signature(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
