import { removeOlderThan } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteRecordsOfDeletedRooms } from './rows.ts';

const recordDays = 1;

/**
 * Deletes the records of rooms that were deleted a day ago, and whose sessions do not exist any more. Until then, the record keeps
 * an announcement of its call from being used twice.
 */
export async function purgeRoomRecords(context: { db: Database; now: () => Date }): Promise<void> {
  await removeOlderThan(context, recordDays, deleteRecordsOfDeletedRooms);
}
