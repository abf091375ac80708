import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryTreeRemover } from '../../runtime.ts';
import { runProgram } from '../../spawner.ts';
import type { UnixAccount } from './interpreter.ts';

const measuringMs = 60_000;

/** Caches of downloads, one per owner. Only the account of the owner's running build can enter a cache. */
export type DownloadCaches = {
  readonly cachesDirectory: string;
  readonly cacheLimitBytes: number;
  readonly removeTree: DirectoryTreeRemover;
};

/** Opens the cache for a build account. Deletes a cache of another account, which could contain planted files. */
export async function openCache(
  { cachesDirectory, removeTree }: DownloadCaches,
  owner: string,
  account: UnixAccount,
): Promise<string> {
  const directory = join(cachesDirectory, owner);
  const cache = filesOf(cachesDirectory, owner);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const uid = account?.uid ?? process.geteuid?.();
  if (existsSync(cache) && statSync(cache).uid !== uid) await removeTree(cache);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(cache, account.uid, account.gid);
  chmodSync(cache, 0o700);
  chmodSync(directory, 0o711);
  return cache;
}

/**
 * Closes the cache to all accounts except the service's account until the owner's next build. The files belong to the account
 * of the last build, and a build of another owner may later run under the same account. Idempotent.
 */
export function lockCache(cachesDirectory: string, owner: string): void {
  const directory = join(cachesDirectory, owner);
  if (existsSync(directory)) chmodSync(directory, 0o700);
}

/** Deletes a cache that exceeds the limit or cannot be measured. Later builds download again. */
export async function enforceCacheLimit(caches: DownloadCaches, owner: string): Promise<void> {
  const cache = filesOf(caches.cachesDirectory, owner);
  if ((await measure(cache)) > caches.cacheLimitBytes) await caches.removeTree(cache);
}

function filesOf(cachesDirectory: string, owner: string): string {
  return join(cachesDirectory, owner, 'files');
}

/** Returns the disk space of a tree in bytes, or infinity if `du` fails or takes longer than a minute. */
async function measure(path: string): Promise<number> {
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, stallMs: measuringMs };
  const du = await runProgram(['du', '-s', '-x', '--block-size=1', '--', path], options).catch(() => null);
  return du?.code === 0 ? Number.parseInt(du.stdout, 10) : Number.POSITIVE_INFINITY;
}
