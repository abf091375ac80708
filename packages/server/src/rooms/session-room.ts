import { createApiError, isRoomTransport, type RoomTransport } from '@bothost/contract';
import { decryptForOrganization, encryptForOrganization } from '../secrets/organization-encryption.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database, Meeting, SessionTransport } from '../store/tables.ts';
import {
  type BotRequest,
  BotRoom,
  type CreatedRoom,
  type RoomProviders,
  RoomRefusedError,
  type RoomRequest,
} from './room-provider.ts';
import {
  addMeetings,
  deleteRoomRow,
  findRoomRow,
  insertRoom,
  keepRoom,
  scheduleDeletionOfUnusedRoom,
  scheduleRoomDeletion,
} from './rows.ts';

export type SessionRoomContext = Pick<StoreContext, 'db' | 'now'> & {
  readonly keyring: Keyring;
  readonly roomProviders: RoomProviders;
  readonly deleteRooms: () => void;
};

/** A room that was created for a session, and its encrypted form for `keepSessionRoom`. */
export type NewSessionRoom = CreatedRoom & { readonly encrypted: Buffer };

/** Seconds that a room may exist without its session, while the session is created. */
const unusedRoomSeconds = 60;
/** Seconds after which a provider has certainly carried out a request or dropped it. */
const lateRoomSeconds = 60;

/**
 * Creates the room of a session that does not exist yet. A record of the room is stored first: if the session is not created, for
 * example because the server is killed, the room is deleted.
 *
 * @throws failure `call-started`, `rooms-not-connected`, and those of `RoomProvider.create`
 */
export async function createSessionRoom(
  context: SessionRoomContext,
  options: Omit<RoomRequest, 'name'> & {
    readonly sessionId: string;
    readonly provider: RoomTransport;
    /** The provider's id of the call for which the session is started. Null if it is started for no call. */
    readonly callId: string | null;
  },
): Promise<NewSessionRoom> {
  const { sessionId, organizationId, provider, callId, ...request } = options;
  const name = createRoomName(sessionId);
  const now = context.now();
  await context.keyring.ensure(context.db, organizationId);
  const isNew = await insertRoom(context.db, {
    session_id: sessionId,
    organization_id: organizationId,
    provider,
    name,
    call_id: callId,
    delete_at: new Date(now.getTime() + unusedRoomSeconds * 1000),
    expires_at: request.expiresAt,
    created_at: now,
  });
  if (!isNew) throw createApiError('call-started');
  try {
    const created = await context.roomProviders[provider].create({ ...request, organizationId, name });
    const value = Buffer.from(JSON.stringify(created.bot));
    const encrypted = await encryptForOrganization(context, ownerOf(organizationId, sessionId), value);
    return { ...created, encrypted };
  } catch (error) {
    if (!(error instanceof RoomRefusedError)) {
      // The provider may still create the room after a request that timed out.
      await scheduleDeletionOfUnusedRoom(context.db, sessionId, new Date(now.getTime() + lateRoomSeconds * 1000));
      throw error;
    }
    await deleteRoomRow(context.db, sessionId);
    throw error.failure;
  }
}

/** A room name at Daily has at most 41 characters. */
export function createRoomName(sessionId: string): string {
  return `bothost-${sessionId.replaceAll('-', '')}`;
}

/**
 * Keeps the room of a session until its end. Call this in the transaction that creates the session.
 *
 * @throws failure `rooms-timeout` if the start took so long that the service has begun to delete the room
 */
export async function keepSessionRoom(db: Database, sessionId: string, { encrypted }: NewSessionRoom): Promise<void> {
  if (!(await keepRoom(db, sessionId, encrypted))) throw createApiError('rooms-timeout');
}

/** Deletes the room of a session that was not created. Does nothing if the session was created. */
export async function abandonSessionRoom(
  context: Pick<SessionRoomContext, 'db' | 'now' | 'deleteRooms'>,
  sessionId: string,
): Promise<void> {
  await scheduleDeletionOfUnusedRoom(context.db, sessionId, context.now());
  context.deleteRooms();
}

/** Makes the room of a session due for deletion. Call this in the transaction that ends the session. */
export function endSessionRoom(db: Database, sessionId: string, at: Date): Promise<void> {
  return scheduleRoomDeletion(db, sessionId, at);
}

/** What a bot gets with `POST /bot`. Rejects if the session has ended, or its room cannot be decrypted. */
export async function createBotRequest(
  context: Pick<SessionRoomContext, 'db' | 'keyring' | 'roomProviders'>,
  session: {
    readonly id: string;
    readonly organizationId: string;
    readonly transport: SessionTransport;
    readonly body: string | null;
  },
): Promise<BotRequest> {
  const { id, organizationId, transport } = session;
  const body = session.body ?? '{}';
  if (!isRoomTransport(transport)) return { headers: {}, body };
  const row = await findRoomRow(context.db, id);
  if (row === undefined || row.sealed === null) throw new Error('the room of the session is due for deletion');
  const value = await decryptForOrganization(context, ownerOf(organizationId, id), row.sealed);
  const room = BotRoom.parse(JSON.parse(value.toString()));
  return context.roomProviders[transport].createBotRequest(organizationId, room, body);
}

export function recordMeetings(db: Database, sessionId: string, meetings: readonly Meeting[]): Promise<void> {
  return addMeetings(db, sessionId, meetings);
}

function ownerOf(organizationId: string, sessionId: string) {
  return { organizationId, use: ['room', sessionId] };
}
