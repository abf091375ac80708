import type { Database } from './tables.ts';

/** Runs `work` in the current transaction if `db` is a transaction, else in a new transaction. */
export function runInTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
