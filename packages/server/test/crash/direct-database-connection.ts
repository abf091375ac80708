import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type QueryResult } from 'pg';
import { createClientConfig } from '../../src/store/address.ts';
import { isConnectionError } from '../../src/store/connection-error.ts';
import { createDirectoryLayout } from '../../src/store/embedded/layout.ts';
import { createDatabaseSocketAddress } from '../../src/store/embedded/socket-address.ts';

const retryMs = 50;

/** A connection to the server's database that is independent of the server process. */
export type DirectDatabaseConnection = {
  readonly rows: (text: string, values?: readonly unknown[]) => Promise<QueryResult['rows']>;
  /** Resolves when the killed server's connections are closed and its open transactions rolled back. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function openDirectDatabaseConnection(dataDirectory: string): DirectDatabaseConnection {
  const { address, release } = createDatabaseSocketAddress(createDirectoryLayout(dataDirectory).data);
  const pool = new Pool({ ...createClientConfig(address), max: 1, idleTimeoutMillis: 0 });
  pool.on('error', () => undefined);

  const rows: DirectDatabaseConnection['rows'] = async (text, values = []) => {
    for (;;) {
      try {
        return (await pool.query(text, [...values])).rows;
      } catch (error) {
        if (!isConnectionError(error)) throw error;
        await delay(retryMs);
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
