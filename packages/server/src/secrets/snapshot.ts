import type { Database } from '../store/tables.ts';

/**
 * Reads one snapshot (`repeatable read`): a write, rotation or pruning between two statements would look like damage. Inside a
 * transaction, whose caller has locked the set, it is that transaction.
 */
export function inSnapshot<T>(db: Database, read: (db: Database) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}
