import { createHash } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reserveUid } from '../containment/accounts.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import { type InstanceFiles, instanceFiles } from '../instances/instance-record.ts';
import { type RemovalContext, removeInstance } from '../instances/remove-instance.ts';
import { type DownloadCaches, limitCache, lockCache, openCache } from './download-cache.ts';
import type { Account } from './interpreter.ts';

/** One command of a build. `title` is the command as the log shows it. */
export type BuildCommand = {
  readonly title: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Returns what the short log shows instead of a line, or null to omit the line. Default: the line. */
  readonly summarize?: (line: string) => string | null;
};

/** The account of a running build, and the directories that the build can use. */
export type Builder = {
  /**
   * Unique on the machine. Also the name of the directory and of the control groups, and the value of
   * `BOTHOST_INSTANCE`.
   */
  readonly name: string;
  readonly account: Account;
  readonly files: InstanceFiles;
  /** Home directory, which is empty at the beginning of a build. */
  readonly home: string;
  /** Directory of the owner's downloads, kept between builds. */
  readonly cache: string;
  /** Directory of files that the service writes and the build can only read. */
  readonly inputs: string;
};

export type BuilderOptions = RemovalContext &
  DownloadCaches & {
    readonly preparingDirectory: string;
    readonly isolation: Pick<Isolation, 'ownAccounts'>;
  };

/**
 * Runs `work` with a build account, one call at a time per owner. Before it resolves, `work` must protect the trees
 * that the build wrote (`protectTree`), because the account is then given to other builds.
 */
export async function withBuilder<T>(
  options: BuilderOptions,
  owner: string,
  gid: number | null,
  work: (builder: Builder) => Promise<T>,
): Promise<T> {
  const name = builderName(options.preparingDirectory, owner);
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
    await limitCache(options, owner);
    lockCache(options.cachesDirectory, owner);
    await removeInstance(options, files, uid);
  }
}

/**
 * The name of an owner's build account. Includes a hash of the directory, because several servers on one machine may
 * have owners of the same name and may recognize processes by BOTHOST_INSTANCE alone.
 */
export function builderName(preparingDirectory: string, owner: string): string {
  const suffix = createHash('sha256').update(preparingDirectory).digest('hex').slice(0, 8);
  return `${owner}-${suffix}`;
}
