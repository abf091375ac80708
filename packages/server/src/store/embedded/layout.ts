import { constants } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../store-error.ts';
import type { OsAccount } from './account.ts';
import type { PostgresPrograms } from './programs.ts';
import { runPostgresProgram } from './run.ts';

/** Paths of the embedded database. Only `data` belongs to the account that PostgreSQL runs as. */
export type DirectoryLayout = {
  readonly root: string;
  readonly data: string;
  readonly settings: string;
  readonly starting: string;
  readonly log: string;
};

export function createDirectoryLayout(dataDirectory: string): DirectoryLayout {
  const root = path.join(path.resolve(dataDirectory), 'postgres');
  const at = (name: string) => path.join(root, name);
  return { root, data: at('data'), settings: at('settings'), starting: at('starting'), log: at('postgres.log') };
}

/** Creates missing directories. If `byRoot`, PostgreSQL's account can enter the directories but not list them. */
export async function makeDirectories(layout: DirectoryLayout, byRoot: boolean): Promise<void> {
  const mode = byRoot ? 0o711 : 0o700;
  for (const directory of [path.dirname(layout.root), layout.root]) {
    const made = await mkdir(directory, { recursive: true, mode });
    if (made !== undefined) await chmod(directory, mode);
  }
}

/**
 * Checks that the account can run the programs of PostgreSQL.
 *
 * @throws StoreError that names the directory that the account cannot enter
 */
export async function requireRunnablePostgresPrograms(programs: PostgresPrograms, account: OsAccount): Promise<void> {
  const { code, output } = await runPostgresProgram({
    file: programs.postgres,
    args: ['--version'],
    account,
    input: '',
  }).catch((error) => ({
    code: null,
    output: error instanceof Error ? error.message : 'unknown error',
  }));
  if (code === 0) return;
  const closedDirectory = await findClosedDirectory(programs.directory, account);
  throw new StoreError(
    closedDirectory === undefined
      ? `PostgreSQL's programs in ${programs.directory} cannot be run as ${account.name}: ${output.trim()}`
      : `PostgreSQL may not run as root; its account ${account.name} cannot enter ${closedDirectory}. ` +
          `Allow it (chmod o+x ${closedDirectory}) or choose another BOTHOST_DATA_DIR.`,
  );
}

async function findClosedDirectory(directory: string, account: OsAccount): Promise<string | undefined> {
  const parent = path.dirname(directory);
  const above = parent === directory ? undefined : await findClosedDirectory(parent, account);
  if (above !== undefined) return above;
  const { mode, uid, gid } = await stat(directory);
  const enter = uid === account.uid ? constants.S_IXUSR : gid === account.gid ? constants.S_IXGRP : constants.S_IXOTH;
  return (mode & enter) === 0 ? directory : undefined;
}
