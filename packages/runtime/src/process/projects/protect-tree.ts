import { chmod, lchown, lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { projectEntries, throwProjectError } from '../../project-entries.ts';
import { PrepareError } from '../../runtime.ts';

/**
 * Maximum number of entries processed concurrently per directory. A tree can have more files than a process may open.
 */
const BATCH = 64;

export type ProtectOptions = {
  /** The account that built the tree. */
  readonly uid: number;
  /** The group that may read the tree afterwards. */
  readonly gid: number;
  readonly signal: AbortSignal;
};

/**
 * Takes a tree away from the account that built it: root then owns it, the group can read it, and only root can write
 * to it. Call it only while no process of that account is running, because it could replace a file with a link. Removes
 * entries that are not files, directories or links. Rejects with `PrepareError` if an entry belongs to another account
 * or cannot be read, and with the signal's reason after an abort.
 */
export async function protectTree(path: string, options: ProtectOptions): Promise<void> {
  await protect(path, options).catch(throwProjectError);
}

async function protect(path: string, options: ProtectOptions): Promise<void> {
  options.signal.throwIfAborted();
  const stat = await lstat(path);
  if (stat.uid !== options.uid && stat.uid !== 0) {
    throw new PrepareError(`The build created ${path}, which belongs to another account.`);
  }
  if (stat.isSymbolicLink()) {
    await lchown(path, 0, options.gid);
  } else if (stat.isDirectory()) {
    await lchown(path, 0, options.gid);
    await chmod(path, 0o750);
    await protectEntries(path, options);
  } else if (stat.isFile()) {
    if (stat.uid === 0 && stat.nlink > 1) {
      throw new PrepareError(
        `The build created ${path} as a hard link to a file that it does not own. Such links are not allowed.`,
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
  for await (const entry of projectEntries(directory)) {
    if (entry.isDirectory()) folders.push(entry.name);
    else others.push(entry.name);
    if (others.length === BATCH) await protectOthers();
  }
  await protectOthers();
  for (const name of folders) await protect(join(directory, name), options);
}
