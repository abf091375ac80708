import { readFile } from 'node:fs/promises';
import { withProcessLock } from '../process-lock.ts';
import { StoreError } from '../store-error.ts';
import { waitForValue } from '../wait.ts';
import { choosePostgresOsAccount, type OsAccount, parsePasswdFile } from './account.ts';
import { createCluster, readClusterVersionAndOwner } from './cluster.ts';
import { describePostgresFailure, explainDiskError } from './disk.ts';
import { type DirectoryLayout, makeDirectories, requireRunnablePostgresPrograms } from './layout.ts';
import { findPostmaster, hasProcessesInDirectory, removeStaleLocks, startPostmaster } from './postmaster.ts';
import { probeDatabase } from './probe.ts';
import { installPostgresPrograms, type PostgresPackage, removeUnusedPostgresCopies } from './programs.ts';
import { writeSettings } from './settings.ts';
import { createDatabaseSocketAddress } from './socket-address.ts';

/** Milliseconds for a start: enough for crash recovery, which replays at most `max_wal_size` of the write-ahead log. */
const startTimeoutMs = 120_000;

/** Parameters of every start of the embedded database. `own` is the account of this process. */
export type PostgresInstallation = {
  readonly layout: DirectoryLayout;
  readonly own: OsAccount;
  readonly postgresPackage: PostgresPackage;
};

/**
 * Makes sure that the database runs and accepts connections, whatever state a kill left it in.
 *
 * @throws StoreError if that is impossible
 */
export async function ensurePostgresRunning(installation: PostgresInstallation): Promise<'adopted' | 'started'> {
  const { layout } = installation;
  try {
    await makeDirectories(layout, installation.own.uid === 0);
    const existing = await readClusterVersionAndOwner(layout.data);
    if (existing !== undefined) requireSameMajor(existing.major, installation.postgresPackage, layout);
    if (existing !== undefined && (await probeData(layout.data)) === 'answers') return 'adopted';
    const refusal = `Another process has been starting the database for ${startTimeoutMs / 1000} seconds.`;
    const lock = { directory: layout.starting, timeoutMs: startTimeoutMs, refusal };
    return await withProcessLock(lock, () => start(installation));
  } catch (error) {
    throw explainDiskError(error, layout.root);
  }
}

async function start({ layout, own, postgresPackage }: PostgresInstallation): Promise<'adopted' | 'started'> {
  const accounts = parsePasswdFile(await readFile('/etc/passwd', 'utf8'));
  const account = choosePostgresOsAccount(own, accounts, (await readClusterVersionAndOwner(layout.data))?.owner);
  const programs = await installPostgresPrograms(postgresPackage, layout.root);
  if (account.uid !== own.uid) await requireRunnablePostgresPrograms(programs, account);
  if ((await readClusterVersionAndOwner(layout.data)) === undefined)
    await createCluster(programs, layout.data, account);
  const settingsFile = await writeSettings(layout.settings, [own, account]);
  const started = await waitForValue({
    directory: layout.data,
    timeoutMs: startTimeoutMs,
    check: () => startOnce({ layout, postgres: programs.postgres, settingsFile, account }),
  });
  if (started === undefined) {
    throw new StoreError(`The database in ${layout.data} did not become ready in ${startTimeoutMs / 1000} seconds.`);
  }
  if (started === 'started') await removeUnusedPostgresCopies(layout.root, programs);
  return started;
}

/** Adopts or starts PostgreSQL. Undefined if processes of an earlier attempt are still starting or ending. */
async function startOnce(options: {
  readonly layout: DirectoryLayout;
  readonly postgres: string;
  readonly settingsFile: string;
  readonly account: OsAccount;
}): Promise<'adopted' | 'started' | undefined> {
  const { layout, postgres, settingsFile, account } = options;
  const found = await probeData(layout.data);
  if (found === 'answers') return 'adopted';
  if (found === 'busy' || (await findPostmaster(layout.data)) !== undefined) return undefined;
  await removeStaleLocks(layout.data);
  const dataDirectory = layout.data;
  const logFile = layout.log;
  const output = await startPostmaster({
    postgres,
    dataDirectory,
    settingsFile,
    logFile,
    account,
    timeoutMs: startTimeoutMs,
  });
  if (output === undefined) return 'started';
  // Wait if processes of a killed database server are still ending, or if another process started the server first.
  if (/pre-existing shared memory block|lock file "[^"]+" already exists/.test(output)) {
    const haveEnded = async () => ((await hasProcessesInDirectory(dataDirectory)) ? undefined : true);
    await waitForValue({ directory: dataDirectory, timeoutMs: 1_000, check: haveEnded });
    return undefined;
  }
  throw new StoreError(
    `The database in ${dataDirectory} could not be started: ${await describePostgresFailure(output, dataDirectory)}`,
  );
}

function requireSameMajor(major: string, postgresPackage: PostgresPackage, layout: DirectoryLayout): void {
  if (major === postgresPackage.major) return;
  throw new StoreError(
    `The database in ${layout.data} was created by PostgreSQL ${major}, and this program has PostgreSQL ${postgresPackage.major}. ` +
      `Start the version that created it and move its content (pg_dump), or choose another BOTHOST_DATA_DIR.`,
  );
}

async function probeData(data: string): Promise<'answers' | 'busy' | 'absent'> {
  const { address, release } = createDatabaseSocketAddress(data);
  try {
    return await probeDatabase(address);
  } finally {
    release();
  }
}
