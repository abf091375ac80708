import { closeSync, constants, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import type { DatabaseAddress } from './address.ts';
import { type Account, chooseAccount, ownAccount, parseAccounts } from './embedded/account.ts';
import { createCluster, describeOutput, readCluster } from './embedded/cluster.ts';
import { type Layout, layoutOf, makeDirectories, requireReach } from './embedded/layout.ts';
import { findPostmaster, removeStaleLocks, startPostmaster, stopPostmaster, trimLog } from './embedded/postmaster.ts';
import { probe } from './embedded/probe.ts';
import { findProgramPackage, installPrograms, type ProgramPackage } from './embedded/programs.ts';
import { port, roleName, writeSettings } from './embedded/settings.ts';
import { withStartLock } from './embedded/start-lock.ts';
import { waitFor } from './embedded/wait.ts';
import { StoreError } from './store-error.ts';

/** How long a start may take in all: repairing after a crash replays at most `max_wal_size` of the log. */
const startPatienceMs = 120_000;

/** How long an orderly stop may take before the database is stopped at once. */
const stopPatienceMs = 60_000;

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
  const own = ownAccount();
  const programPackage = await findProgramPackage();
  await makeDirectories(dataDirectory, layout, own.uid === 0);
  const adopted = await adoptOrStart(layout, own, programPackage);
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
      const running = await adoptOrStart(layout, own, programPackage);
      if (!running) logger.warn({ data: layout.data }, 'the database was gone and was started again');
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
      await stopPostmaster(layout.data, stopPatienceMs);
    },
    close,
  };
}

/** Resolves with whether the database ran already. */
async function adoptOrStart(layout: Layout, own: Account, programPackage: ProgramPackage): Promise<boolean> {
  const existing = await readCluster(layout.data);
  if (existing !== undefined) {
    requireSameMajor(existing.major, programPackage, layout);
    if ((await probeData(layout.data)) === 'answers') return true;
  }
  return await withStartLock(layout.starting, startPatienceMs, async () => {
    const accounts = parseAccounts(await readFile('/etc/passwd', 'utf8'));
    const account = chooseAccount(own, accounts, (await readCluster(layout.data))?.owner);
    const programs = await installPrograms(programPackage, layout.root);
    if (account.uid !== own.uid) await requireReach(programs, account);
    if ((await readCluster(layout.data)) === undefined) await createCluster(programs, layout.data, account);
    const settingsFile = await writeSettings(layout.settings, [own, account]);
    const started = await waitFor({
      directory: layout.data,
      timeoutMs: startPatienceMs,
      check: () => startOnce({ layout, postgres: programs.postgres, settingsFile, account }),
    });
    if (started === undefined) {
      throw new StoreError(`The database in ${layout.data} did not become ready in ${startPatienceMs / 1000} seconds.`);
    }
    return started === 'adopted';
  });
}

/** One step on the way to a running database; undefined when what was there before is still going or coming. */
async function startOnce(options: {
  readonly layout: Layout;
  readonly postgres: string;
  readonly settingsFile: string;
  readonly account: Account;
}): Promise<'adopted' | 'started' | undefined> {
  const { layout, postgres, settingsFile, account } = options;
  const found = await probeData(layout.data);
  if (found === 'answers') return 'adopted';
  if (found === 'busy' || (await findPostmaster(layout.data)) !== undefined) return undefined;
  await removeStaleLocks(layout.data);
  const dataDirectory = layout.data;
  const logFile = layout.log;
  const said = await startPostmaster({
    postgres,
    dataDirectory,
    settingsFile,
    logFile,
    account,
    timeoutMs: startPatienceMs,
  });
  if (said === undefined) return 'started';
  // The children of a killed server are still ending, or a server from elsewhere was faster.
  if (/pre-existing shared memory block|lock file "[^"]+" already exists/.test(said)) return undefined;
  throw new StoreError(`The database in ${dataDirectory} could not be started: ${describeOutput(said)}`);
}

function requireSameMajor(major: string, programPackage: ProgramPackage, layout: Layout): void {
  if (major === programPackage.major) return;
  throw new StoreError(
    `The database in ${layout.data} was made by PostgreSQL ${major}, and this program has PostgreSQL ${programPackage.major}. ` +
      `Start the version that made it and move its content (pg_dump), or choose another BOTHOST_DATA_DIR.`,
  );
}

async function probeData(data: string): Promise<'answers' | 'busy' | 'absent'> {
  const { address, release } = reach(data);
  try {
    return await probe(address);
  } finally {
    release();
  }
}

/** The path of a unix socket holds 107 bytes (unix(7)); a longer one is reached through an open handle of its directory. */
function reach(data: string): { readonly address: DatabaseAddress; readonly release: () => void } {
  const at = (host: string) => ({ host, port, database: roleName, user: roleName });
  if (Buffer.byteLength(path.join(data, `.s.PGSQL.${port}`)) <= 107)
    return { address: at(data), release: () => undefined };
  const handle = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY);
  return { address: at(`/proc/self/fd/${handle}`), release: () => closeSync(handle) };
}
