import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { DatabaseAddress } from './address.ts';
import { isConnectionError } from './connection-error.ts';
import { openDatabase } from './database.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded.ts';
import { type Subscription, subscribeToChannel } from './listen.ts';
import { holdLock, type LockHandle } from './lock.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/all.ts';
import { StoreError } from './store-error.ts';
import type { Database, Tables } from './tables.ts';

export type Store = {
  readonly db: Database;
  /** Returns null if the database is migrated and reachable. Otherwise, returns a message for the operator about the cause. */
  readonly findReadinessProblem: () => Promise<string | null>;
  /** Whether this server holds the region's lock. If not, another server may run the region's bots. */
  readonly holdsRegion: () => boolean;
  readonly notify: (channel: string, message: string) => Promise<void>;
  /** Subscribes to a channel. An empty message means that earlier messages may have been missed. */
  readonly subscribe: (channel: string, onMessage: (message: string) => void) => Promise<void>;
  /** Closes the connections, and stops an embedded database. If `leave` is true, the embedded database continues to run. */
  readonly close: (leave: boolean) => Promise<void>;
};

export type StoreOptions = {
  /** URL of an external database. If undefined, the embedded database in the data directory is used. */
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  /** The region whose instances this server runs. Only one server at a time may run the instances of a region. */
  readonly region: string;
  readonly logger: Logger;
  /** Restores a backup into the empty database before it is migrated. Null if there is no backup to restore. */
  readonly restore: ((db: Database) => Promise<void>) | null;
  /**
   * Called when this server has acquired the region's lock again. It had lost the lock together with its database connection,
   * and another server may have held the lock in between. `holdsRegion` returns false until the returned promise resolves. If
   * the promise rejects, this server releases the lock and tries again.
   */
  readonly onRegionRetaken: (db: Database) => Promise<void>;
  /** Called when another server acquired the region's lock while this server had no database connection. */
  readonly onRegionLost: (error: Error) => void;
};

/** Time to wait for PostgreSQL to detect that the previous server process is dead, in milliseconds. */
const takeOverMs = 10_000;
const retryMs = 500;

/**
 * Opens and migrates the database, and locks the region.
 *
 * @throws StoreError
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, dataDirectory, logger } = options;
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres({ dataDirectory, logger }) : null;
  const address: DatabaseAddress = embedded?.address ?? { url: databaseUrl ?? '' };
  const recover = embedded === null ? {} : { onConnectionFailure: () => embedded.ensureRunning() };
  try {
    const db = await openDatabase<Tables>({ address, logger, ...recover });
    try {
      await options.restore?.(db);
      await migrate(db, migrations);
      return await hold(options, embedded, address, db);
    } catch (error) {
      await db.destroy();
      throw error;
    }
  } catch (error) {
    // Stop the database only if this process started it and no other server uses it. `RegionTakenError` means that another
    // server runs the bots of this region with the same database.
    if (embedded?.adopted === false && !(error instanceof RegionTakenError)) await embedded.stop();
    else embedded?.close();
    throw error;
  }
}

async function hold(
  options: StoreOptions,
  embedded: EmbeddedPostgres | null,
  address: DatabaseAddress,
  db: Database,
): Promise<Store> {
  const subscriptions: Subscription[] = [];
  let closed = false;
  let lock: LockHandle | null = await lockRegion(options, address, db, onLost);

  function onLost() {
    lock = null;
    if (!closed) void takeAgain();
  }

  async function takeAgain(): Promise<void> {
    while (!closed) {
      try {
        if (await retake()) return;
      } catch (error) {
        if (error instanceof StoreError) return options.onRegionLost(error);
        if (!isConnectionError(error))
          options.logger.error(
            { err: error },
            'region lock could not be acquired again after the database connection was lost',
          );
        if (embedded !== null) await embedded.ensureRunning().catch(() => undefined);
        await delay(retryMs, undefined, { ref: false });
      }
    }
  }

  /** Takes the region's lock again. Returns false if the lock was lost again immediately. */
  async function retake(): Promise<boolean> {
    let isHeld = true;
    const again = await lockRegion(options, address, db, () => {
      if (lock === again) onLost();
      else isHeld = false;
    });
    try {
      if (!closed) await options.onRegionRetaken(db);
    } catch (error) {
      await again.release();
      throw error;
    }
    if (closed) await again.release();
    else if (isHeld) lock = again;
    return closed || isHeld;
  }

  return {
    db,
    findReadinessProblem: async () => {
      try {
        await sql`select 1`.execute(db);
        return lock === null ? 'the region is not held' : null;
      } catch (error) {
        if (isConnectionError(error)) return 'the database is not reachable';
        throw error;
      }
    },
    holdsRegion: () => lock !== null,
    notify: async (channel, message) => void (await sql`select pg_notify(${channel}, ${message})`.execute(db)),
    subscribe: async (channel, onMessage) => {
      const onReconnected = () => onMessage('');
      subscriptions.push(
        await subscribeToChannel({ address, channel, onMessage, onReconnected, logger: options.logger }),
      );
    },
    close: async (leave) => {
      closed = true;
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await lock?.release();
      await db.destroy();
      if (leave) embedded?.close();
      else await embedded?.stop();
    },
  };
}

/** Thrown if another server runs the bots of this region with the same database. */
class RegionTakenError extends StoreError {}

async function lockRegion(
  { region }: StoreOptions,
  address: DatabaseAddress,
  db: Database,
  onLost: () => void,
): Promise<LockHandle> {
  const key = `bothost region ${region}`;
  const lock = await holdLock({ address, key, waitMs: takeOverMs, onLost });
  if (lock !== null) return lock;
  const owner = await db.selectFrom('hosts').select('description').where('region', '=', region).executeTakeFirst();
  throw new RegionTakenError(
    `Another server runs the bots of region ${region}: ${owner?.description ?? 'unknown'}. ` +
      'Stop it, or set BOTHOST_REGION to another region.',
  );
}
