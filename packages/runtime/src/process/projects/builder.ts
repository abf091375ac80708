import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reserveUid } from '../containment/accounts.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import { type InstanceFiles, instanceFiles } from '../instances/instance-record.ts';
import { type RemovalContext, removeInstance } from '../instances/remove-instance.ts';
import type { TryAccount } from './interpreter.ts';

/** One program to run for a project, by the account that builds. `title` is what people read of it. */
export type BuildCommand = {
  readonly title: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
};

/** An account to build with, and its places. */
export type Builder = {
  /** Of its directory, its control groups and its mark: no two on one machine share it. */
  readonly name: string;
  readonly account: TryAccount;
  readonly files: InstanceFiles;
  /** Its own and empty at first. */
  readonly home: string;
  /** Downloads of its owner, kept from one build to the next. */
  readonly cache: string;
  /** The service's own files for the build, which it can read only. */
  readonly inputs: string;
};

export type BuilderOptions = RemovalContext & {
  readonly preparingDirectory: string;
  readonly cachesDirectory: string;
  readonly isolation: Pick<Isolation, 'ownAccounts'>;
};

/**
 * Lends the owner's account for building, to one at a time per owner. All that it leaves in the project is its account's:
 * seal it before `work` resolves, as the account is somebody else's after that.
 */
export async function withBuilder<T>(
  options: BuilderOptions,
  owner: string,
  gid: number | null,
  work: (builder: Builder) => Promise<T>,
): Promise<T> {
  // Servers of one machine may build for owners of the same name, and know processes by the mark alone.
  const place = createHash('sha256').update(options.preparingDirectory).digest('hex').slice(0, 8);
  const name = `${owner}-${place}`;
  const files = instanceFiles(options.preparingDirectory, name);
  await removeInstance(options, files);
  makePassable(files.directory);
  let uid: number | null = null;
  try {
    if (options.isolation.ownAccounts) uid = await reserveUid(options.reservationsDirectory, files.directory);
    const account = uid === null ? null : { uid, gid: gid ?? uid };
    const inputs = join(files.directory, 'inputs');
    makePassable(inputs);
    mkdirSync(files.home, { mode: 0o700 });
    if (account !== null) chownSync(files.home, account.uid, account.gid);
    const cache = await openCache(options, owner, account);
    return await work({ name, account, files, home: files.home, cache, inputs });
  } finally {
    lockCache(options.cachesDirectory, owner);
    await removeInstance(options, files, uid);
  }
}

/** What another account had downloaded is dropped: the kernel would not let this one use it, and nobody may pass it on. */
async function openCache(
  { cachesDirectory, removeTree }: BuilderOptions,
  owner: string,
  account: TryAccount,
): Promise<string> {
  const directory = join(cachesDirectory, owner);
  const cache = join(directory, 'files');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const uid = account?.uid ?? process.geteuid?.();
  if (existsSync(cache) && statSync(cache).uid !== uid) await removeTree(cache);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(cache, account.uid, account.gid);
  // A former build may have closed it.
  chmodSync(cache, 0o700);
  chmodSync(directory, 0o711);
  return cache;
}

/** Between builds nobody gets in, whoever has the account then. Idempotent. */
export function lockCache(cachesDirectory: string, owner: string): void {
  const directory = join(cachesDirectory, owner);
  if (existsSync(directory)) chmodSync(directory, 0o700);
}
