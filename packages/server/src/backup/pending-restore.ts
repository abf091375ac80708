import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupManifest, backupEntryNames, pendingRestoreDirectoryNames } from '@bothost/contract';
import { OperatorError } from '../operator-error.ts';

/** A backup that `botcli operator restore` unpacked and that the service has not finished restoring. */
export type PendingRestore = { readonly directory: string; readonly manifest: BackupManifest };

export async function findPendingRestore(dataDirectory: string): Promise<PendingRestore | null> {
  const directory = join(dataDirectory, pendingRestoreDirectoryNames.complete);
  if (!(await exists(directory))) return null;
  const text = await readFile(join(directory, backupEntryNames.first), 'utf8');
  return { directory, manifest: BackupManifest.parse(JSON.parse(text)) };
}

/**
 * Rejects if an earlier `botcli operator restore` was interrupted. Call this before creating anything in the data
 * directory, because a repeated restore requires an empty data directory.
 *
 * @throws OperatorError
 */
export async function requireNoPartialRestore(dataDirectory: string): Promise<void> {
  const partial = join(dataDirectory, pendingRestoreDirectoryNames.unpacking);
  if (!(await exists(partial))) return;
  throw new OperatorError(
    `A restore was interrupted. Run "botcli operator restore" again, or remove ${partial} to start without the backup.`,
  );
}

/**
 * Moves the files of the backup to their final paths. Idempotent, so that the next start can repeat it after a kill.
 */
export async function moveRestoredFiles({ directory }: PendingRestore, dataDirectory: string): Promise<void> {
  const files = join(directory, 'files');
  await mkdir(files, { recursive: true });
  for (const name of await readdir(files)) await rename(join(files, name), join(dataDirectory, name));
}

/** Renames the directory before it is removed, so that a kill leaves nothing partial that the next start would restore. */
export async function removeCompletedRestore({ directory }: PendingRestore, dataDirectory: string): Promise<void> {
  const old = join(dataDirectory, 'restore.done');
  await rm(old, { recursive: true, force: true });
  await rename(directory, old);
  await rm(old, { recursive: true });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
