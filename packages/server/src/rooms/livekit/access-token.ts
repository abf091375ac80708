import { SignJWT } from 'jose/jwt/sign';
import type { LiveKitServer } from './livekit-server.ts';

/** What the holder of a token may do (LiveKit's documentation, "Tokens & grants"). `agent`: clients show a bot, not a person. */
export type VideoGrant =
  | { readonly roomCreate: true }
  | { readonly roomJoin: true; readonly room: string; readonly agent?: true };

type AccessTokenContent = {
  readonly grant: VideoGrant;
  /** Of the participant that joins with the token. */
  readonly identity?: string;
  readonly name?: string;
  readonly expiresAt: Date;
};

/** Signs a token for a LiveKit server. It has no start time, so that the two clocks may differ. */
export function signAccessToken(
  { apiKey, apiSecret }: Pick<LiveKitServer, 'apiKey' | 'apiSecret'>,
  { grant, identity, name, expiresAt }: AccessTokenContent,
): Promise<string> {
  const token = new SignJWT({ video: grant, ...(name === undefined ? {} : { name }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(apiKey)
    .setExpirationTime(expiresAt);
  if (identity !== undefined) token.setSubject(identity);
  return token.sign(Buffer.from(apiSecret));
}
