import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../store-error.ts';
import type { Account } from './account.ts';
import type { Programs } from './programs.ts';
import { run } from './run.ts';
import { roleName } from './settings.ts';

const unfinishedPrefix = 'data.new-';

/** What there is of a database in the directory: the major version that made it and the user id that owns it. */
export async function readCluster(directory: string): Promise<{ major: string; owner: number } | undefined> {
  try {
    const version = await readFile(path.join(directory, 'PG_VERSION'), 'utf8');
    return { major: version.trim(), owner: (await stat(directory)).uid };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes the database in `directory`: first beside it under another name, then renamed, so that a kill leaves nothing half.
 * What a killed one left is removed. The service's role owns its database and is no superuser, as in an external PostgreSQL.
 *
 * @throws StoreError with the end of the program's output, for example when the disk is full
 */
export async function createCluster(programs: Programs, directory: string, account: Account): Promise<void> {
  const parent = path.dirname(directory);
  for (const name of await readdir(parent)) {
    if (name.startsWith(unfinishedPrefix))
      await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
  const unfinished = await mkdtemp(path.join(parent, unfinishedPrefix));
  try {
    await chown(unfinished, account.uid, account.gid);
    const initdb = ['-D', unfinished, '-U', 'postgres', '--auth=reject', '--encoding=UTF8'];
    await runOrFail(programs.initdb, [...initdb, '--locale-provider=builtin', '--locale=C.UTF-8'], account);
    const alone = ['--single', '-j', '-D', unfinished, '-c', 'log_min_messages=fatal', '-c', 'exit_on_error=on'];
    const statements = [`create role ${roleName} login`, `create database ${roleName} owner ${roleName}`];
    await runOrFail(programs.postgres, [...alone, 'template1'], account, `${statements.join(';\n\n')};\n\n`);
    await rename(unfinished, directory);
    await syncDirectory(parent);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

async function runOrFail(file: string, args: readonly string[], account: Account, input?: string): Promise<void> {
  const { code, output } = await run({ file, args, account, ...(input === undefined ? {} : { input }) });
  if (code === 0) return;
  throw new StoreError(`The database could not be created: ${describeOutput(output)}`);
}

/** The cause in a sentence when it is a known one, then what the program said last. */
export function describeOutput(output: string): string {
  const cause = /No space left on device|Disk quota exceeded/.test(output) ? 'its disk is full. ' : '';
  return `${cause}PostgreSQL said:\n${output.trim() || '(nothing)'}`;
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
