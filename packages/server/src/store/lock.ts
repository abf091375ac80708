import type { DatabaseAddress } from './address.ts';
import { openDedicated } from './dedicated.ts';

export type LockHandle = { readonly release: () => Promise<void> };

/**
 * Holds the advisory lock `key` of the database until `release` or the end of the process, when PostgreSQL ends the
 * connection. Waits for another holder for at most `waitMs`, then resolves with null. Calls `onLost` if the connection ends
 * without `release`: another process may hold the lock from then on.
 */
export async function holdLock(options: {
  readonly address: DatabaseAddress;
  readonly key: string;
  readonly waitMs: number;
  readonly onLost: (error: Error) => void;
}): Promise<LockHandle | null> {
  try {
    const { close } = await openDedicated({
      address: options.address,
      onLost: options.onLost,
      prepare: async (client) => {
        // A lock timeout of 0 would mean no limit. PostgreSQL detects a dead holder's machine by TCP keepalive, here
        // after 25 seconds.
        await client.query(
          `select set_config('lock_timeout', $1, false), set_config('tcp_keepalives_idle', '10', false),
          set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`,
          [`${Math.max(1, Math.ceil(options.waitMs))}ms`],
        );
        await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [options.key]);
      },
    });
    return { release: close };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === lockNotAvailable) return null;
    throw error;
  }
}

/** SQLSTATE of a lock timeout. */
const lockNotAvailable = '55P03';
