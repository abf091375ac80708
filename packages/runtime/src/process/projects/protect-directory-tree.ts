import { chmod, lchown, lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { iterateProjectEntries, rethrowProjectError } from '../../project-entries.ts';
import { ProjectPreparationError } from '../../runtime.ts';

/** Entries that are processed concurrently. A tree can have more files than a process may open. */
const batch = 64;

export type ProtectOptions = {
  /** The account that built the tree. */
  readonly uid: number;
  /** The group that may read the tree afterwards. */
  readonly gid: number;
  readonly signal: AbortSignal;
};

/**
 * Gives a tree to root, readable for the group, and removes entries that are not files, directories or links. Call this only
 * while no process of the build's account is running, because such a process could replace a file with a link. Rejects with
 * `ProjectPreparationError` if an entry belongs to another account or cannot be read, and with the signal's reason after an
 * abort.
 */
export async function protectDirectoryTree(path: string, options: ProtectOptions): Promise<void> {
  await protect(path, options).catch(rethrowProjectError);
}

async function protect(path: string, options: ProtectOptions): Promise<void> {
  options.signal.throwIfAborted();
  const stat = await lstat(path);
  if (stat.uid !== options.uid && stat.uid !== 0) {
    throw new ProjectPreparationError(`The build created ${path}, which belongs to another account.`);
  }
  if (stat.isSymbolicLink()) {
    await lchown(path, 0, options.gid);
  } else if (stat.isDirectory()) {
    await lchown(path, 0, options.gid);
    await chmod(path, 0o750);
    await protectEntries(path, options);
  } else if (stat.isFile()) {
    if (stat.uid === 0 && stat.nlink > 1) {
      throw new ProjectPreparationError(
        `The build created ${path} as a hard link to a file of another account. Such links are not allowed.`,
      );
    }
    await lchown(path, 0, options.gid);
    await chmod(path, (stat.mode & 0o111) === 0 ? 0o640 : 0o750);
  } else {
    await unlink(path);
  }
}

async function protectEntries(directory: string, options: ProtectOptions): Promise<void> {
  const folders: string[] = [];
  let others: string[] = [];
  const protectOthers = async () => {
    await Promise.all(others.map((name) => protect(join(directory, name), options)));
    others = [];
  };
  for await (const entry of iterateProjectEntries(directory)) {
    if (entry.isDirectory()) folders.push(entry.name);
    else others.push(entry.name);
    if (others.length === batch) await protectOthers();
  }
  await protectOthers();
  for (const name of folders) await protect(join(directory, name), options);
}
