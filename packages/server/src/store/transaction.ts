import { sql } from 'kysely';
import type { Database } from './tables.ts';

/** Runs `work` in the current transaction if `db` is a transaction, else in a new transaction. */
export function runInTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * A source for the `from` clause of a statement that takes a lock: the commit of the transaction does not wait for the disk, so that
 * the lock is released sooner. What another transaction reads before the commit is on disk is safe: its own commit follows in the
 * write-ahead log, so it is lost if the first one is.
 */
export const commitWithoutWaiting = sql`(select set_config('synchronous_commit', 'off', true)) as setting`;

/** Runs `work` in a new transaction in which a statement contains `commitWithoutWaiting`. Resolves when the commit is on disk. */
export function runInQuicklyUnlockedTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const result = await connection.transaction().execute(work);
    await waitForDisk(connection);
    return result;
  });
}

/**
 * Waits until all commits so far are on disk. `connection` must be the connection of the commit to wait for: on another one, this
 * would also succeed after a crash of PostgreSQL that lost the commit.
 */
export async function waitForDisk(connection: Database): Promise<void> {
  // The commit of this message waits until the write-ahead log before it is on disk. A transaction without a write would not wait.
  await sql`select pg_logical_emit_message(true, 'bothost', '')`.execute(connection);
}
