import { statfs } from 'node:fs/promises';
import { isFileSystemFull } from '../full-disk.ts';
import { StoreError } from '../store-error.ts';

/** With less free disk space, PostgreSQL cannot even report why it failed. */
const minFreeDiskBytes = 1024 * 1024;

/** Describes a failure: a known cause, then the output. Checks the disk, which may be too full for any output. */
export async function describePostgresFailure(output: string, directory: string): Promise<string> {
  const full = /No space left on device|Disk quota exceeded/.test(output) || (await isFull(directory));
  return `${full ? `the disk of ${directory} is full. ` : ''}Output of PostgreSQL:\n${output.trim() || '(nothing)'}`;
}

async function isFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize < minFreeDiskBytes;
}

/** Converts an error of a full or inaccessible disk to a StoreError for the operator. Returns any other error unchanged. */
export function explainDiskError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (isFileSystemFull(error)) {
    return new StoreError(`The database cannot be started: the disk of ${directory} is full.`, { cause: error });
  }
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS') {
    return new StoreError(`The database cannot be started in ${directory}: ${error.message}`, { cause: error });
  }
  return error;
}
