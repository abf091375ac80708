import type { Database } from './tables.ts';

/** Runs the work in the current transaction if `db` is one, else in a new one. */
export function inTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
