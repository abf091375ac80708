import type { DatabaseAddress } from './address.ts';
import { openDedicated } from './dedicated.ts';

export type LockHandle = { readonly release: () => Promise<void> };

/**
 * Holds the lock named `key` among all who use this database, as long as this process lives: PostgreSQL frees it when the
 * connection ends, however it ends. Waits at most `waitMs` for another holder, then resolves with null. `onLost` is called
 * when the connection ends without `release`: from then on somebody else may hold the lock.
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
        // 0 would be no limit at all. A dead holder's host is noticed by PostgreSQL's own probes, here after 25 seconds.
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

/** SQLSTATE of a lock that was not granted in time. */
const lockNotAvailable = '55P03';
