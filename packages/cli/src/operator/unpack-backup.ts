import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BackupManifest, pendingRestoreDirectoryNames } from '@bothost/contract';
import { Failure, isSystemCallError } from '../failure.ts';
import { readBackup } from './read-backup.ts';

/**
 * Unpacks a backup into a subdirectory of an empty data directory. The service restores the backup when it starts. Until the
 * archive is unpacked and verified, the subdirectory has a temporary name, and the service refuses to start while a directory
 * with that name exists.
 */
export async function unpackBackup(archive: AsyncIterable<Uint8Array>, dataDirectory: string): Promise<BackupManifest> {
  const unpacking = join(dataDirectory, pendingRestoreDirectoryNames.unpacking);
  try {
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    await requireEmpty(dataDirectory);
    // Remove files that an interrupted `operator restore` left.
    await rm(unpacking, { recursive: true, force: true });
    await mkdir(unpacking, { mode: 0o700 });
    try {
      const manifest = await readBackup(archive, (entry) => unpackEntry(unpacking, entry));
      await rename(unpacking, join(dataDirectory, pendingRestoreDirectoryNames.complete));
      return manifest;
    } catch (error) {
      await rm(unpacking, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new Failure('restore-failed', `The backup cannot be unpacked in ${dataDirectory} (${error.code}).`, null, {
      cause: error,
    });
  }
}

async function requireEmpty(dataDirectory: string): Promise<void> {
  // Ignore `lost+found`: the data directory may be the root of a file system, where some file systems create this directory.
  const ignored: readonly string[] = [pendingRestoreDirectoryNames.unpacking, 'lost+found'];
  const present = (await readdir(dataDirectory)).filter((name) => !ignored.includes(name));
  if (present.length === 0) return;
  if (present.includes(pendingRestoreDirectoryNames.complete)) {
    const message = `${dataDirectory} already contains an unpacked backup.`;
    throw new Failure('restore-pending', message, 'Start the service to complete the restore.');
  }
  const message = `${dataDirectory} is not empty. A backup is restored into an empty data directory only.`;
  throw new Failure(
    'data-directory-not-empty',
    message,
    'Move the files in the data directory elsewhere, or set BOTHOST_DATA_DIR to an empty directory.',
  );
}

async function unpackEntry(
  directory: string,
  { path, content }: { readonly path: string; readonly content: AsyncIterable<Buffer> },
): Promise<void> {
  const [, name = '', offset] = /^(.*?)(?:@(\d+))?$/.exec(path) ?? [];
  if (!name.split('/').every((part) => /^[\w-][\w.-]*$/.test(part))) {
    throw new Failure('not-a-backup', `The archive contains the unexpected path ${JSON.stringify(path)}.`);
  }
  const target = join(directory, name);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  // A sparse file consists of several archive entries, each with an `offset`, so the file may already exist. The file of any
  // other entry must not exist yet.
  const flags = constants.O_WRONLY | constants.O_CREAT | (offset === undefined ? constants.O_EXCL : 0);
  const file = await open(target, flags, 0o600);
  try {
    const start = Number(offset ?? 0);
    let at = start;
    for await (const chunk of content) {
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
    }
    if (at === start) await file.truncate(start);
    await file.sync();
  } finally {
    await file.close();
  }
}
