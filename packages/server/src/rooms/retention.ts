import { removeOlderThan } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteRecordsOfDeletedRooms } from './rows.ts';

const recordDays = 1;

/** Deletes old records of rooms without a session. Until then, a record keeps its call from being announced twice. */
export async function purgeRoomRecords(context: { db: Database; now: () => Date }): Promise<void> {
  await removeOlderThan(context, recordDays, deleteRecordsOfDeletedRooms);
}
