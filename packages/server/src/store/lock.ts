import type { DatabaseAddress } from './address.ts';
import { openDedicatedConnection } from './dedicated-connection.ts';
import { hasErrorCode } from './error-code.ts';

export type LockHandle = { readonly release: () => Promise<void> };

/**
 * Holds the advisory lock `key` of the database until `release`, or until the process ends and PostgreSQL closes its connection.
 * If another process holds the lock, waits for at most `waitMs`, then resolves with null. Calls `onLost` if the connection ends
 * without `release`. From then on, another process may hold the lock.
 */
export async function holdLock(options: {
  readonly address: DatabaseAddress;
  readonly key: string;
  readonly waitMs: number;
  readonly onLost: (error: Error) => void;
}): Promise<LockHandle | null> {
  try {
    const { close } = await openDedicatedConnection({
      address: options.address,
      onLost: options.onLost,
      prepare: async (client) => {
        // A lock timeout of 0 would mean no limit, so use at least 1 ms. With these keepalive settings, PostgreSQL notices
        // after 25 seconds that the machine of a lock holder has failed, and releases the lock.
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
    if (hasErrorCode(error, lockNotAvailable)) return null;
    throw error;
  }
}

const lockNotAvailable = '55P03';
