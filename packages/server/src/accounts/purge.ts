import type { StoreContext } from '../store/store-context.ts';
import { deleteExpiredAccountRows } from './rows.ts';

/** Deletes expired sessions, links, device logins and personal tokens. */
export async function purgeExpiredAccountData({ db, now }: Pick<StoreContext, 'db' | 'now'>): Promise<void> {
  await deleteExpiredAccountRows(db, now());
}
