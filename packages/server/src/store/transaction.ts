import { sql } from 'kysely';
import type { Database } from './tables.ts';

/** Runs `work` in the current transaction if `db` is a transaction, else in a new transaction. */
export function runInTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * Runs `work` in a new transaction that releases its locks before its commit is on disk, so that a transaction that waits for the
 * same lock does not wait for the disk twice. Resolves when the commit is on disk. What another transaction reads before then is
 * safe: its own commit follows in the write-ahead log, so it is lost if this one is.
 */
export async function runInQuicklyUnlockedTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  const result = await db.transaction().execute(async (transaction) => {
    await sql`set local synchronous_commit = off`.execute(transaction);
    return work(transaction);
  });
  // The commit of this message waits until the write-ahead log before it is on disk. A transaction without a write would not wait.
  await sql`select pg_logical_emit_message(true, 'bothost', '')`.execute(db);
  return result;
}
