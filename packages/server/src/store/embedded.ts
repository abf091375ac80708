import type { Logger } from 'pino';
import type { DatabaseAddress } from './address.ts';
import { ownAccount } from './embedded/account.ts';
import { bringUp } from './embedded/bring-up.ts';
import { layoutOf } from './embedded/layout.ts';
import { stopPostmaster, trimLog } from './embedded/postmaster.ts';
import { findProgramPackage } from './embedded/programs.ts';
import { reach } from './embedded/reach.ts';
import { StoreError } from './store-error.ts';

/** How long an orderly stop may take before the database is stopped at once. */
const stopTimeoutMs = 60_000;

/** After a failed start the next is not tried before this, so that requests against a full disk do not storm it. */
const retryAfterMs = 1_000;

const logCheckMs = 10 * 60_000;

export type EmbeddedPostgres = {
  readonly address: DatabaseAddress;
  /** Whether it was running already, left by a server that was killed or that was told to leave it. */
  readonly adopted: boolean;
  /** Starts the database when it is gone; many callers share one start. Rejects with a StoreError. */
  readonly ensureRunning: () => Promise<void>;
  /** Stops the database in order; close the pools first. */
  readonly stop: () => Promise<void>;
  /** Lets go of the database and leaves it running. */
  readonly close: () => void;
};

export type EmbeddedOptions = {
  /** The service's data directory; the database takes the folder `postgres` in it. */
  readonly dataDirectory: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
};

/**
 * The PostgreSQL of the data directory, made if there is none, started if it does not run. It is reached by a unix socket in
 * its own data directory only, so any number of data directories can be used at once, and only this account can connect.
 *
 * @throws StoreError when it cannot be started, in a sentence for the operator
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDirectory, logger, now = Date.now } = options;
  const layout = layoutOf(dataDirectory);
  const installation = { layout, own: ownAccount(), programPackage: await findProgramPackage() };
  const adopted = (await bringUp(installation)) === 'adopted';
  const { address, release } = reach(layout.data);
  logger.info({ adopted, data: layout.data }, adopted ? 'adopted the running database' : 'started the database');

  let open = true;
  let starting: Promise<void> | undefined;
  let failed: { readonly at: number; readonly error: unknown } | undefined;
  const logCheck = setInterval(() => void trimLog(layout.log).catch(() => undefined), logCheckMs);
  logCheck.unref();

  const start = async () => {
    if (!open) throw new StoreError('The database is being stopped.');
    if (failed !== undefined && now() - failed.at < retryAfterMs) throw failed.error;
    try {
      if ((await bringUp(installation)) === 'started')
        logger.warn({ data: layout.data }, 'the database was gone and was started again');
      failed = undefined;
    } catch (error) {
      failed = { at: now(), error };
      logger.warn({ err: error }, 'the database could not be started');
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
