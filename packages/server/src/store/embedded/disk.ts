import { statfs } from 'node:fs/promises';
import { StoreError } from '../store-error.ts';

/** With less than this left, bytes, PostgreSQL cannot even say why it ended. */
const hardlyAny = 1024 * 1024;

/**
 * What went wrong with one of PostgreSQL's programs: a known cause in a sentence, then what the program said last. The disk
 * is also asked, because a program whose disk is full may have had no place for its last words.
 */
export async function describeFailure(output: string, directory: string): Promise<string> {
  const full = /No space left on device|Disk quota exceeded/.test(output) || (await isFull(directory));
  return `${full ? `the disk of ${directory} is full. ` : ''}PostgreSQL said:\n${output.trim() || '(nothing)'}`;
}

async function isFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize < hardlyAny;
}

/** The same error, or a sentence in its place when the disk did not take what was written to it. */
export function explainDiskError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new StoreError(`The database cannot be started: the disk of ${directory} is full.`, { cause: error });
  }
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS') {
    return new StoreError(`The database cannot be started in ${directory}: ${error.message}`, { cause: error });
  }
  return error;
}
