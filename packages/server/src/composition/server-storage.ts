import { hostname } from 'node:os';
import type { Logger } from 'pino';
import {
  findPendingRestore,
  moveRestoredFiles,
  removeCompletedRestore,
  requireNoPartialRestore,
} from '../backup/pending-restore.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { registerHost, removeRegionWithoutAgents } from '../instances/host.ts';
import { openStore, type Store } from '../store/open-store.ts';
import type { Database } from '../store/tables.ts';
import { newId } from '../store/uuid.ts';
import { isMainProcessOfContainer } from './container.ts';
import { createDataDirectory, type DataDirectory, lockDataDirectory, openDataDirectory } from './data-directory.ts';
import { getAcceptedSource, getRuntimeDriver, readsUsage } from './runtime-driver.ts';
import type { Teardown } from './teardown.ts';

/** The data directory, database and region lock of this server. All other parts depend on them. */
export type ServerStorage = {
  readonly base: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'logger' | 'host'>;
  readonly data: DataDirectory;
  readonly store: Store;
  /** True if no other server that uses this database is alive. */
  readonly isAlone: boolean;
  /** The last heartbeat of the previous server process in this region. Null in a new region. */
  readonly lastHeartbeat: Date | null;
  /** Resolves when this server has lost the lock of its region to another server. */
  readonly regionLost: Promise<Error>;
};

/**
 * Opens the data directory and the database, and locks the region.
 *
 * @throws OperatorError, StoreError
 */
export async function openServerStorage(config: Config, logger: Logger, teardown: Teardown): Promise<ServerStorage> {
  const { data, restore } = await openData(config, teardown);
  const now = () => new Date();
  const host = {
    id: data.id,
    region: config.region,
    accepts: getAcceptedSource(config.runtime),
    reads_usage: readsUsage(config),
  };
  const description = `process ${process.pid} on ${hostname()}, data directory ${data.path}`;
  const record = (db: Database) => registerHost({ db, now }, { ...host, runtime: config.runtime, description });
  let onRegionLost: (error: Error) => void = () => undefined;
  const regionLost = new Promise<Error>((resolve) => {
    onRegionLost = resolve;
  });
  // Call this before an embedded database starts, because the database inherits the control group of the server process.
  await getRuntimeDriver(config.runtime).prepareServer?.();
  const store = await openStore({
    databaseUrl: config.secrets.databaseUrl,
    dataDirectory: data.path,
    region: config.region,
    logger,
    restore:
      restore === null
        ? null
        : async (db) => (await import('../backup/restore-database.ts')).restoreDatabase({ db, now }, restore),
    onRegionRetaken: async (db) => void (await record(db)),
    onRegionLost,
  });
  teardown.add(async () => store.close(config.onStop === 'leave' && !(await isMainProcessOfContainer())));
  if (restore !== null) {
    await removeCompletedRestore(restore, data.path);
    logger.info({ backupId: restore.manifest.id, createdAt: restore.manifest.createdAt }, 'backup restored');
  }
  const { lastHeartbeat, isAlone } = await record(store.db);
  if (lastHeartbeat === null) teardown.addForFailedStart(() => removeRegionWithoutAgents(store.db, host));
  return { base: { db: store.db, now, newId, logger, host }, data, store, isAlone, lastHeartbeat, regionLost };
}

/** Creates and locks the data directory, and moves the files of a pending restore into it before it is read. */
async function openData({ dataDirectory, secrets }: Config, teardown: Teardown) {
  const isRoot = process.geteuid?.() === 0;
  await requireNoPartialRestore(dataDirectory);
  await createDataDirectory(dataDirectory, isRoot);
  const lock = await lockDataDirectory(dataDirectory);
  teardown.add(lock.release);
  const restore = await findPendingRestore(dataDirectory);
  if (restore !== null) await moveRestoredFiles(restore, dataDirectory);
  return { data: await openDataDirectory(dataDirectory, isRoot, secrets.rootKey), restore };
}
