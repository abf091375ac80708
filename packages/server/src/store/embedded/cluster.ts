import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { hasErrorCode } from '../error-code.ts';
import { StoreError } from '../store-error.ts';
import type { OsAccount } from './account.ts';
import { describePostgresFailure } from './disk.ts';
import type { PostgresPrograms } from './programs.ts';
import { runPostgresProgram } from './run.ts';
import { databaseRoleName } from './settings.ts';

const unfinishedPrefix = 'data.new-';

/** The configuration files of `initdb` are not used, because the service starts the server with its own files. */
const initdbArguments = [
  ...['-U', 'postgres', '--auth=reject', '--encoding=UTF8'],
  ...['--locale-provider=builtin', '--locale=C.UTF-8'],
];

/** SQL for the single-user mode of PostgreSQL with -j, where an empty line ends a statement. */
const statements = `create role ${databaseRoleName} login;\n\ncreate database ${databaseRoleName} owner ${databaseRoleName};\n\n`;

/** Reads the major version of the database in a directory and the user id of its owner. Undefined if there is no database. */
export async function readClusterVersionAndOwner(
  directory: string,
): Promise<{ major: string; owner: number } | undefined> {
  try {
    const version = await readFile(path.join(directory, 'PG_VERSION'), 'utf8');
    return { major: version.trim(), owner: (await stat(directory)).uid };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Creates the database in a staging directory, which is then renamed to `directory`, so a kill leaves no partial database.
 * Removes the staging directories of killed starts. The service's role owns the database and is not a superuser, as in an
 * external PostgreSQL.
 *
 * @throws StoreError with the end of the program's output, for example if the disk is full
 */
export async function createCluster(programs: PostgresPrograms, directory: string, account: OsAccount): Promise<void> {
  const parent = path.dirname(directory);
  for (const name of await readdir(parent)) {
    if (name.startsWith(unfinishedPrefix)) await removeAll(path.join(parent, name));
  }
  const unfinished = await mkdtemp(path.join(parent, unfinishedPrefix));
  try {
    await chown(unfinished, account.uid, account.gid);
    const runOrFail = async (file: string, args: readonly string[], input: string) => {
      const { code, output } = await runPostgresProgram({ file, args, account, input });
      if (code !== 0)
        throw new StoreError(`The database could not be created: ${await describePostgresFailure(output, parent)}`);
    };
    await runOrFail(programs.initdb, ['-D', unfinished, ...initdbArguments], '');
    const alone = ['--single', '-j', '-D', unfinished, '-c', 'log_min_messages=fatal', 'template1'];
    await runOrFail(programs.postgres, alone, statements);
    await rename(unfinished, directory);
    await syncDirectory(parent);
  } catch (error) {
    await removeAll(unfinished);
    throw error;
  }
}

/** Removes a staging directory. If a process of a killed start still writes there, the next start removes the rest. */
async function removeAll(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
