import { createApiError, type Operations, type ResponseOf } from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { LiveKitRooms } from '../rooms/livekit/livekit-rooms.ts';
import { computeRoomExpiry } from '../rooms/room-expiry.ts';
import { createRoomName } from '../rooms/session-room.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { findOpenSession } from './rows.ts';

/**
 * Creates a token with which a further person joins the LiveKit room of a session. The session must not have ended.
 *
 * @throws failure `not-found`, `not-in-livekit-room`, `livekit-not-configured`
 */
export function admitParticipant(
  context: { readonly db: Database; readonly now: () => Date; readonly liveKitRooms: LiveKitRooms },
  scope: Actor & { readonly organizationId: string },
  { agentName, sessionId }: { readonly agentName: string; readonly sessionId: string },
  name: string | undefined,
): Promise<ResponseOf<Operations['admitParticipant']>> {
  return context.db.transaction().execute(async (db) => {
    const agentId = await requireAgentId(db, scope.organizationId, agentName);
    const session = isUuid(sessionId) ? await findOpenSession(db, agentId, sessionId) : undefined;
    if (session === undefined) throw createApiError('not-found');
    if (session.transport !== 'livekit') throw createApiError('not-in-livekit-room');
    const expiresAt = computeRoomExpiry(session.createdAt, session.maxSeconds);
    const admission = await context.liveKitRooms.admit(createRoomName(session.id), { name, expiresAt });
    await appendAudit(db, scope.organizationId, {
      ...organizationEventFields,
      action: 'sessions.admit',
      object: session.id,
      keys: [agentName],
      actor: scope,
      at: context.now(),
      result: 'done',
    });
    return { ...admission, expiresAt: expiresAt.toISOString() };
  });
}
