import { createHash } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reserveUid } from '../containment/accounts.ts';
import { createTraversableDirectory, type IsolationSettings } from '../containment/isolation.ts';
import { type RemovalContext, removeInstance } from '../instances/remove-instance.ts';
import { getInstanceFiles, type InstanceFiles } from '../records/instance-record.ts';
import { type DownloadCaches, enforceCacheLimit, lockCache, openCache } from './download-cache.ts';
import type { UnixAccount } from './interpreter.ts';

export type BuildCommand = {
  readonly title: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Returns a line's text for the short build log, or null to omit the line. Default: the unchanged line. */
  readonly summarize?: (line: string) => string | null;
  /** The error message if the command exits with another status than 0. Default: the status and the last lines of output. */
  readonly failure?: string;
};

export type Builder = {
  /** Name of the build, unique on the machine: its directory, its control groups, and its `BOTHOST_INSTANCE`. */
  readonly name: string;
  readonly owner: string;
  readonly account: UnixAccount;
  readonly files: InstanceFiles;
  readonly home: string;
  /** Download cache of the project's owner (an organization or a served directory), kept between builds. */
  readonly cache: string;
  readonly inputs: string;
};

export type BuilderOptions = RemovalContext &
  DownloadCaches & {
    readonly preparingDirectory: string;
    readonly isolation: Pick<IsolationSettings, 'ownAccounts'>;
  };

/**
 * Runs `work` with a user account that is reserved for the build. Do not call it while another build of the owner runs. `work`
 * must make its result read-only, because a later build may get the same account.
 */
export async function runWithBuilderAccount<T>(
  options: BuilderOptions,
  owner: string,
  gid: number | null,
  work: (builder: Builder) => Promise<T>,
): Promise<T> {
  const name = createBuilderName(options.preparingDirectory, owner);
  const files = getInstanceFiles(options.preparingDirectory, name);
  await removeInstance(options, files);
  createTraversableDirectory(files.directory);
  let uid: number | null = null;
  try {
    if (options.isolation.ownAccounts) uid = await reserveUid(options.reservationsDirectory, files.directory);
    const account = uid === null ? null : { uid, gid: gid ?? uid };
    const inputs = join(files.directory, 'inputs');
    createTraversableDirectory(inputs);
    mkdirSync(files.home, { mode: 0o700 });
    if (account !== null) chownSync(files.home, account.uid, account.gid);
    const cache = await openCache(options, owner, account);
    return await work({ name, owner, account, files, home: files.home, cache, inputs });
  } finally {
    await enforceCacheLimit(options, owner);
    lockCache(options.cachesDirectory, owner);
    await removeInstance(options, files, uid);
  }
}

/**
 * Returns the unique name of an owner's builds, by which a server recognizes their processes. It contains a hash of
 * `preparingDirectory`, because another server on this machine may have an owner of the same name.
 */
export function createBuilderName(preparingDirectory: string, owner: string): string {
  const suffix = createHash('sha256').update(preparingDirectory).digest('hex').slice(0, 8);
  return `${owner}-${suffix}`;
}
