import type { Database } from '../store/tables.ts';
import { deleteExpired } from './rows.ts';

/** Deletes expired sessions, links, device logins and personal tokens. */
export async function purgeExpired({ db, now }: { readonly db: Database; readonly now: () => Date }): Promise<void> {
  await deleteExpired(db, now());
}
