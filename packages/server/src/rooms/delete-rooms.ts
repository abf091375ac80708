import type { RoomTransport } from '@bothost/contract';
import type { StoreContext } from '../store/store-context.ts';
import type { RoomProviders } from './room-provider.ts';
import { leaseRoomsToDelete, markRoomDeleted, postponeRoomDeletion, type RoomToDelete } from './rows.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger'> & {
  readonly roomProviders: RoomProviders;
};

/** Daily accepts 50 deletions in 30 seconds. */
const deletionsPerPass = 10;
/** How long a server may take for a deletion, before another one repeats it. */
const leaseMs = 60_000;
const firstRetryMs = 1_000;
const longestRetryMs = 600_000;
/** How long deletions are repeated after the room has expired at its provider. */
const giveUpMs = 86_400_000;

/**
 * Deletes the rooms of a provider whose sessions have ended or were never created. A deletion that fails is repeated by any server,
 * after 1, 2, 4 ... seconds and at last every 10 minutes, until it succeeds, or until a day after the room expired.
 */
export async function deleteDueRooms(context: Context, provider: RoomTransport, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const now = context.now();
    const leasedUntil = new Date(now.getTime() + leaseMs);
    const rooms = await leaseRoomsToDelete(context.db, { provider, now, leasedUntil, limit: deletionsPerPass });
    await Promise.all(rooms.map((room) => deleteRoom(context, room, signal)));
    if (rooms.length < deletionsPerPass) return;
  }
}

async function deleteRoom(context: Context, room: RoomToDelete, signal: AbortSignal): Promise<void> {
  const { db, now, logger } = context;
  try {
    const target = { organizationId: room.organization_id, name: room.name };
    await context.roomProviders[room.provider].remove(target, signal);
  } catch (error) {
    const at = now().getTime();
    const fields = { sessionId: room.session_id, provider: room.provider, attempts: room.attempts, err: error };
    if (at < room.expires_at.getTime() + giveUpMs) {
      const pauseMs = Math.min(firstRetryMs * 2 ** (room.attempts - 1), longestRetryMs);
      // Only the first of many equal failures is worth a warning.
      logger[room.attempts === 1 ? 'warn' : 'debug'](fields, 'room deletion failed, retry scheduled');
      await postponeRoomDeletion(db, room.session_id, new Date(at + pauseMs));
      return;
    }
    logger.error(fields, 'room deletion given up a day after the room expired');
  }
  await markRoomDeleted(db, room.session_id, now());
}
