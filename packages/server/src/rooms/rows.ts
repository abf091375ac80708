import type { RoomTransport } from '@bothost/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, Meeting, SessionRoomsTable } from '../store/tables.ts';

type RoomRow = Selectable<SessionRoomsTable>;

/** Inserts the record of a room. Returns false if the call already has a room. */
export async function insertRoom(
  db: Database,
  row: Omit<Insertable<SessionRoomsTable>, 'sealed' | 'meetings' | 'deleted_at'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('session_rooms')
    .values({ ...row, meetings: '[]' })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function deleteRoomRow(db: Database, sessionId: string): Promise<void> {
  await db.deleteFrom('session_rooms').where('session_id', '=', sessionId).execute();
}

/** Keeps a room until the end of its session. Returns false if the service has already begun to delete the room. */
export async function keepRoom(db: Database, sessionId: string, encrypted: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('session_rooms')
    .set({ sealed: encrypted, delete_at: null })
    .where('session_id', '=', sessionId)
    .where('attempts', '=', 0)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Makes the room of a session due for deletion. Does nothing if the session has no room, or its room is already due. */
export async function scheduleRoomDeletion(db: Database, sessionId: string, at: Date): Promise<void> {
  await db
    .updateTable('session_rooms')
    .set({ sealed: null, delete_at: at })
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .where('attempts', '=', 0)
    .execute();
}

/** Makes the room of a start that failed due for deletion, and forgets its call, so that the call can be announced again. */
export async function scheduleDeletionOfUnusedRoom(db: Database, sessionId: string, at: Date): Promise<void> {
  await db
    .updateTable('session_rooms')
    .set({ delete_at: at, call_id: null })
    .where('session_id', '=', sessionId)
    .where('sealed', 'is', null)
    .where('attempts', '=', 0)
    .where('deleted_at', 'is', null)
    .execute();
}

export function findRoomRow(db: Database, sessionId: string): Promise<RoomRow | undefined> {
  return db.selectFrom('session_rooms').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
}

export type RoomToDelete = Pick<
  RoomRow,
  'session_id' | 'organization_id' | 'provider' | 'name' | 'attempts' | 'expires_at'
>;

/** Leases rooms of a provider whose deletion is due, so that no other server deletes them before `leasedUntil`. */
export async function leaseRoomsToDelete(
  db: Database,
  lease: { readonly provider: RoomTransport; readonly now: Date; readonly leasedUntil: Date; readonly limit: number },
): Promise<readonly RoomToDelete[]> {
  const { rows } = await sql<RoomToDelete>`/* prepared: lease-rooms */
    update session_rooms set attempts = attempts + 1, delete_at = ${lease.leasedUntil}::timestamptz
    where session_id in (select session_id from session_rooms
      where provider = ${lease.provider} and delete_at <= ${lease.now}::timestamptz
      order by delete_at limit ${lease.limit} for update skip locked)
    returning session_id, organization_id, provider, name, attempts, expires_at`.execute(db);
  return rows;
}

export async function markRoomDeleted(db: Database, sessionId: string, at: Date): Promise<void> {
  await db
    .updateTable('session_rooms')
    .set({ delete_at: null, deleted_at: at })
    .where('session_id', '=', sessionId)
    .execute();
}

export async function postponeRoomDeletion(db: Database, sessionId: string, until: Date): Promise<void> {
  await db
    .updateTable('session_rooms')
    .set({ delete_at: until })
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Makes the postponed deletions of an organization's rooms due. */
export async function resumeRoomDeletions(
  db: Database,
  { organizationId, provider, at }: { organizationId: string; provider: RoomTransport; at: Date },
): Promise<void> {
  await db
    .updateTable('session_rooms')
    .set({ delete_at: at })
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .where('attempts', '>', 0)
    .where('delete_at', '>', at)
    .execute();
}

export async function countRooms(db: Database, organizationId: string, provider: string): Promise<number> {
  const { rooms } = await db
    .selectFrom('session_rooms')
    .select(sql<number>`count(*)::int`.as('rooms'))
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider as RoomTransport)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return rooms;
}

/** Adds meetings that the room does not have yet. */
export async function addMeetings(db: Database, sessionId: string, meetings: readonly Meeting[]): Promise<void> {
  for (const meeting of meetings) {
    const added = JSON.stringify([meeting]);
    await sql`update session_rooms set meetings = meetings || ${added}::jsonb
      where session_id = ${sessionId} and not meetings @> ${added}::jsonb and jsonb_array_length(meetings) < ${mostMeetings}`.execute(
      db,
    );
  }
}

/** Without a limit, a bot could grow its row indefinitely. */
const mostMeetings = 20;

/** Deletes the records of rooms that were deleted before a time and whose sessions do not exist, at most `limit`. */
export async function deleteRecordsOfDeletedRooms(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } =
    await sql`delete from session_rooms where session_id in (select session_id from session_rooms
    where deleted_at < ${before}::timestamptz and not exists (select from sessions where id = session_id)
    order by deleted_at limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}
