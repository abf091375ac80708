import type { Operations, RequestOf, RoomTransport } from '@bothost/contract';
import { computeRoomExpiry } from '../rooms/room-expiry.ts';
import { createSessionRoom, type NewSessionRoom, type SessionRoomContext } from '../rooms/session-room.ts';
import { findServingDeployment } from '../sessions/create.ts';

type Context = SessionRoomContext & Parameters<typeof findServingDeployment>[0];
type Request = NonNullable<RequestOf<Operations['startSession']>['body']>;

/**
 * Creates the room of a session, unless the agent cannot start a session.
 *
 * @throws failure `not-found`, `deployment-not-ready`, and those of `createSessionRoom`
 */
export async function createRoom(
  context: Context,
  wanted: Parameters<typeof findServingDeployment>[1] & {
    readonly sessionId: string;
    readonly provider: RoomTransport;
    readonly requestedAt: Date;
  },
  { request, callId = null }: { readonly request: Request; readonly callId?: string | null },
): Promise<NewSessionRoom> {
  const { sessionId, organizationId, provider, requestedAt } = wanted;
  const { maxSessionSeconds } = await findServingDeployment(context, wanted);
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
