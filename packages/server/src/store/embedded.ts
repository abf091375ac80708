import type { Logger } from 'pino';
import type { DatabaseAddress } from './address.ts';
import { findCurrentOsAccount } from './embedded/account.ts';
import { ensurePostgresRunning } from './embedded/ensure-running.ts';
import { createDirectoryLayout } from './embedded/layout.ts';
import { stopPostmaster, truncateLog } from './embedded/postmaster.ts';
import { findPostgresPackage } from './embedded/programs.ts';
import { createDatabaseSocketAddress } from './embedded/socket-address.ts';
import { StoreError } from './store-error.ts';

/** Time limit in milliseconds for a fast shutdown of PostgreSQL. After it, an immediate shutdown follows. */
const stopTimeoutMs = 60_000;

/** Milliseconds after a failed start, so that requests do not cause constant restarts, for example on a full disk. */
const retryAfterMs = 1_000;

const logCheckMs = 10 * 60_000;

export type EmbeddedPostgres = {
  readonly address: DatabaseAddress;
  /** Whether the database was already running, because the previous server process was killed or left the database running. */
  readonly adopted: boolean;
  /** Starts the database if it is not running. Concurrent calls share one start. Rejects with a StoreError. */
  readonly ensureRunning: () => Promise<void>;
  /** Stops the database. Close the pools first. */
  readonly stop: () => Promise<void>;
  /** Releases the resources of this process, and leaves the database running. */
  readonly close: () => void;
};

export type EmbeddedOptions = {
  /** The service's data directory. The database uses its subdirectory `postgres`. */
  readonly dataDirectory: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now?: () => number;
};

/**
 * Opens the PostgreSQL server of a data directory: creates the database if it is missing, and starts the server if it is not
 * running. The server listens only on a Unix socket in its own data directory. So several data directories can be used at once,
 * and only the accounts of this process and of PostgreSQL can connect.
 *
 * @throws StoreError if the server cannot be started; the message is for the operator
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDirectory, logger, now = Date.now } = options;
  const layout = createDirectoryLayout(dataDirectory);
  const installation = { layout, own: findCurrentOsAccount(), postgresPackage: await findPostgresPackage() };
  const adopted = (await ensurePostgresRunning(installation)) === 'adopted';
  const { address, release } = createDatabaseSocketAddress(layout.data);
  logger.info({ adopted, data: layout.data }, adopted ? 'running database adopted' : 'database started');

  let open = true;
  let starting: Promise<void> | undefined;
  let failed: { readonly at: number; readonly error: unknown } | undefined;
  const logCheck = setInterval(() => void truncateLog(layout.log).catch(() => undefined), logCheckMs);
  logCheck.unref();

  const start = async () => {
    if (!open) throw new StoreError('The database is shutting down.');
    if (failed !== undefined && now() - failed.at < retryAfterMs) throw failed.error;
    try {
      if ((await ensurePostgresRunning(installation)) === 'started')
        logger.warn({ data: layout.data }, 'database restarted');
      failed = undefined;
    } catch (error) {
      failed = { at: now(), error };
      logger.warn({ err: error }, 'database start failed');
      throw error;
    }
  };
  const close = () => {
    if (open) release();
    open = false;
    clearInterval(logCheck);
  };
  return {
    address,
    adopted,
    ensureRunning: () => {
      starting ??= start().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    stop: async () => {
      close();
      await starting?.catch(() => undefined);
      await stopPostmaster(layout.data, stopTimeoutMs);
    },
    close,
  };
}
