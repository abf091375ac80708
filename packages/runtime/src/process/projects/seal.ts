import { chmod, lchown, lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { projectEntries, throwProjectError } from '../../project-entries.ts';
import { PrepareError } from '../../runtime.ts';

/** Entries of one directory that are sealed at the same time. A tree has more files than a process may open. */
const BATCH = 64;

export type SealOptions = {
  /** The account that built it. */
  readonly uid: number;
  /** The group that may read it from now on. */
  readonly gid: number;
  readonly signal: AbortSignal;
};

/**
 * Takes a tree away from the account that made it: root owns it, its group can read it, and no account but root can write to it. Only while
 * nothing of that account runs, as it could put a link where a file was. What is neither file, directory nor link is
 * removed. Rejects with `PrepareError` at what belongs to somebody else, which no honest build makes, and at what the
 * service cannot read; with the signal's reason after an abort.
 */
export async function sealTree(path: string, options: SealOptions): Promise<void> {
  await seal(path, options).catch(throwProjectError);
}

async function seal(path: string, options: SealOptions): Promise<void> {
  options.signal.throwIfAborted();
  const stat = await lstat(path);
  if (stat.uid !== options.uid && stat.uid !== 0) {
    throw new PrepareError(`The build left ${path}, which belongs to somebody else.`);
  }
  if (stat.isSymbolicLink()) {
    await lchown(path, 0, options.gid);
  } else if (stat.isDirectory()) {
    await lchown(path, 0, options.gid);
    await chmod(path, 0o750);
    await sealEntries(path, options);
  } else if (stat.isFile()) {
    if (stat.uid === 0 && stat.nlink > 1) {
      throw new PrepareError(`The build left ${path}, a second name for a file that is not its own.`);
    }
    await lchown(path, 0, options.gid);
    await chmod(path, (stat.mode & 0o111) === 0 ? 0o640 : 0o750);
  } else {
    await unlink(path);
  }
}

async function sealEntries(directory: string, options: SealOptions): Promise<void> {
  const folders: string[] = [];
  let others: string[] = [];
  const sealOthers = async () => {
    await Promise.all(others.map((name) => seal(join(directory, name), options)));
    others = [];
  };
  for await (const entry of projectEntries(directory)) {
    if (entry.isDirectory()) folders.push(entry.name);
    else others.push(entry.name);
    if (others.length === BATCH) await sealOthers();
  }
  await sealOthers();
  for (const name of folders) await seal(join(directory, name), options);
}
