import { createHmac } from 'node:crypto';
import { isEqualInConstantTime } from '../../crypto/constant-time.ts';

/** The headers with which Daily signs the announcement of a call. */
export const dialinSignatureHeader = 'x-pinless-signature';
export const dialinTimestampHeader = 'x-pinless-timestamp';

const toleranceMs = 300_000;
/** Daily sends milliseconds with calls. Its documentation and other programs have seconds, which are below this number. */
const firstMilliseconds = 10_000_000_000;

/**
 * Whether Daily signed an announcement in the last five minutes: HMAC-SHA256 of the timestamp, a period and the body, with the
 * decoded secret, in Base64 (https://docs.daily.co/guides/products/dial-in-dial-out/dialin-pinless).
 */
export function isSignedDialin(
  secret: string,
  { timestamp, signature, body }: { readonly timestamp: string; readonly signature: string; readonly body: Buffer },
  now: Date,
): boolean {
  const expected = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${timestamp}.`).update(body).digest();
  if (!isEqualInConstantTime(Buffer.from(signature, 'base64'), expected)) return false;
  const sent = Number(timestamp);
  const sentMs = sent < firstMilliseconds ? sent * 1000 : sent;
  return Math.abs(now.getTime() - sentMs) <= toleranceMs;
}
