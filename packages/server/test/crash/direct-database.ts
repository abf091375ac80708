import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type QueryResult } from 'pg';
import { clientConfig } from '../../src/store/address.ts';
import { isConnectionError } from '../../src/store/connection-error.ts';
import { layoutOf } from '../../src/store/embedded/layout.ts';
import { reach } from '../../src/store/embedded/reach.ts';

/** While the database is away. */
const retryMilliseconds = 50;

/** A connection to the database that knows nothing of the server and outlives it. */
export type PastServer = {
  readonly rows: (text: string, values?: readonly unknown[]) => Promise<QueryResult['rows']>;
  /** Resolves when the dead server's connections are gone, and with them what it had not committed. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function pastServer(dataDirectory: string): PastServer {
  const { address, release } = reach(layoutOf(dataDirectory).data);
  // One connection, made anew after a kill of the database.
  const pool = new Pool({ ...clientConfig(address), max: 1, idleTimeoutMillis: 0 });
  pool.on('error', () => undefined);

  const rows: PastServer['rows'] = async (text, values = []) => {
    for (;;) {
      try {
        return (await pool.query(text, [...values])).rows;
      } catch (error) {
        if (!isConnectionError(error)) throw error;
        await delay(retryMilliseconds);
      }
    }
  };

  return {
    rows,
    settled: async () => {
      const others = `select count(*)::int as count from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`;
      while ((await rows(others))[0].count > 0) {}
    },
    close: async () => {
      await pool.end();
      release();
    },
  };
}
