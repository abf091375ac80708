import { createHmac } from 'node:crypto';
import { type IceServer, needsTurnCredentials } from '@bothost/contract';
import { isInstanceSecret } from '../instances/instance-secret.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { findOpenSessionOfInstance } from './rows.ts';

/**
 * Returns the ICE servers of a session, for its client and its bot. `startedAt` is null before the bot has accepted the session.
 */
export type SessionIceServers = (session: {
  readonly id: string;
  readonly maxSeconds: number;
  readonly startedAt: Date | null;
}) => readonly IceServer[];

/** Seconds that TURN credentials are valid beyond the longest session, because bot and client first have to start. */
const marginSeconds = 600;

/** Adds time-limited TURN credentials (draft-uberti-behave-turn-rest, coturn's `use-auth-secret`) where none are set. */
export function createSessionIceServers(
  { iceServers, turnSecret }: { readonly iceServers: readonly IceServer[]; readonly turnSecret: string | undefined },
  now: () => Date,
): SessionIceServers {
  return ({ id, maxSeconds, startedAt }) =>
    iceServers.map((server) => {
      if (turnSecret === undefined || !needsTurnCredentials(server)) return server;
      const expiry = Math.floor((startedAt ?? now()).getTime() / 1000) + maxSeconds + marginSeconds;
      const username = `${expiry}:${id}`;
      return { ...server, username, credential: createHmac('sha1', turnSecret).update(username).digest('base64') };
    });
}

/** An instance's ICE servers. Empty for a wrong secret, and without a session, so that credentials do not outlive a session. */
export async function findIceServersOfInstance(
  context: { readonly db: Database; readonly controlTokenKey: Buffer; readonly iceServersOf: SessionIceServers },
  instanceId: string,
  secret: string,
): Promise<readonly IceServer[]> {
  if (!isUuid(instanceId) || !isInstanceSecret(context.controlTokenKey, instanceId, secret)) return [];
  const session = await findOpenSessionOfInstance(context.db, instanceId);
  return session === undefined ? [] : context.iceServersOf(session);
}
