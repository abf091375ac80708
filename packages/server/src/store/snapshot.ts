import type { Database } from './tables.ts';

/**
 * Runs `read` in one snapshot (`repeatable read`), for a result that several statements read and that must not mix the states
 * before and after a concurrent write. If `db` is already a transaction, `read` runs in it, and the caller must have locked what
 * it reads, unless that transaction is a snapshot, too. `read` must use the `db` that it gets: a second connection might never
 * become free.
 */
export function readSnapshot<T>(db: Database, read: (db: Database) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}
