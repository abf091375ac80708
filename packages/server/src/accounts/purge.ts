import type { Database } from '../store/tables.ts';
import { deleteExpiredAccountRows } from './rows.ts';

/** Deletes expired sessions, links, device logins and personal tokens. */
export async function purgeExpiredAccountData({
  db,
  now,
}: {
  readonly db: Database;
  readonly now: () => Date;
}): Promise<void> {
  await deleteExpiredAccountRows(db, now());
}
