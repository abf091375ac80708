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

/**
 * Commits, then waits until the commit is on disk, in one exchange with PostgreSQL. The second statement is a transaction of its
 * own, which waits for the disk because it writes a message to the write-ahead log. On another connection, it would also succeed
 * after a crash of PostgreSQL that lost the commit.
 */
const commitAndWaitForDisk = sql`commit; select pg_logical_emit_message(true, 'bothost', '')`;

/** Runs `work` in a new transaction in which a statement contains `commitWithoutWaiting`. Resolves when the commit is on disk. */
export function runInQuicklyUnlockedTransaction<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const transaction = await connection.startTransaction().execute();
    try {
      const result = await work(transaction);
      await commitAndWaitForDisk.execute(transaction);
      return result;
    } catch (error) {
      await transaction.rollback().execute();
      throw error;
    }
  });
}
