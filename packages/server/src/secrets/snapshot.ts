import type { Database } from '../store/tables.ts';

/**
 * Runs `read` in one snapshot (`repeatable read`), because a write, rotation or pruning between two statements would look like
 * damage. If `db` is already a transaction, `read` runs in it, and the caller must have locked the set.
 */
export function readWithinDatabaseSnapshot<T>(db: Database, read: (db: Database) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}
