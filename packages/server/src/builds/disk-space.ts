import { statfs } from 'node:fs/promises';
import { failure } from '@bothost/contract';

/** Space that stays free for the database and for bots, which share the disk. */
const reserveBytes = 256 * 1_048_576;

/** @throws failure `storage-full` if the disk of `path` has no room for this many bytes */
export async function requireSpace(path: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < bytes + reserveBytes) throw failure('storage-full');
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
