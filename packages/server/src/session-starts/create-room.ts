import { isRoomTransport } from '@bothost/contract';
import { computeRoomExpiry } from '../rooms/room-expiry.ts';
import { createSessionRoom, type NewSessionRoom, type SessionRoomContext } from '../rooms/session-room.ts';
import { findServingDeployment } from '../sessions/create.ts';
import type { StartRequest } from './parse-start-request.ts';

type Context = SessionRoomContext & Parameters<typeof findServingDeployment>[0];

/**
 * Creates the room of a session, unless the agent cannot start a session. Resolves with null for a transport without rooms.
 *
 * @throws failure `not-found`, `deployment-not-ready`, and those of `createSessionRoom`
 */
export async function createRoom(
  context: Context,
  session: Parameters<typeof findServingDeployment>[1] & { readonly sessionId: string; readonly requestedAt: Date },
  { request, callId = null }: { readonly request: StartRequest; readonly callId?: string | null },
): Promise<NewSessionRoom | null> {
  const { sessionId, organizationId, transport: provider, requestedAt } = session;
  if (!isRoomTransport(provider)) return null;
  const { maxSessionSeconds } = await findServingDeployment(context, session);
  return createSessionRoom(context, {
    sessionId,
    organizationId,
    provider,
    callId,
    expiresAt: computeRoomExpiry(requestedAt, maxSessionSeconds),
    roomProperties: request.dailyRoomProperties ?? {},
    tokenProperties: request.dailyMeetingTokenProperties ?? {},
  });
}
