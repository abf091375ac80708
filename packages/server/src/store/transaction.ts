import type { Database } from './tables.ts';

/** Does the work in the transaction that `db` is, or in one of its own: all of it or nothing. */
export function inTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
