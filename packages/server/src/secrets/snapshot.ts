import type { Database } from '../store/tables.ts';

/**
 * Reads all of it as it was at one moment: a write, a rotation or a removal of old revisions in between would look like
 * damage. Inside of a transaction, which has the set locked, it is that one.
 */
export function inSnapshot<T>(db: Database, read: (db: Database) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}
