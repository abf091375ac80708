import { chmod, lchown, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PrepareError } from '../../runtime.ts';

/** Who built it, and the group that may read it from now on. */
export type SealOptions = { readonly uid: number; readonly gid: number };

/**
 * Takes a tree away from the account that made it: it belongs to root, its group reads it, nobody writes to it. Only while
 * nothing of that account runs, as it could put a link where a file was. What is neither file, directory nor link is
 * removed. Rejects with `PrepareError` at what belongs to somebody else, which no honest build makes.
 */
export async function sealTree(path: string, options: SealOptions): Promise<void> {
  const stat = await lstat(path);
  if (stat.uid !== options.uid && stat.uid !== 0) {
    throw new PrepareError(`The build left ${path}, which belongs to somebody else.`);
  }
  if (stat.isSymbolicLink()) {
    await lchown(path, 0, options.gid);
  } else if (stat.isDirectory()) {
    await lchown(path, 0, options.gid);
    await chmod(path, 0o750);
    // One directory after the other: a tree has more files than a process may open.
    const names = await readdir(path, { withFileTypes: true });
    const folders = names.filter((entry) => entry.isDirectory());
    const others = names.filter((entry) => !entry.isDirectory());
    await Promise.all(others.map((entry) => sealTree(join(path, entry.name), options)));
    for (const folder of folders) await sealTree(join(path, folder.name), options);
  } else if (stat.isFile()) {
    if (stat.uid === 0 && stat.nlink > 1) {
      throw new PrepareError(`The build left ${path}, a second name for a file that is not its own.`);
    }
    await lchown(path, 0, options.gid);
    await chmod(path, (stat.mode & 0o111) === 0 ? 0o640 : 0o750);
  } else {
    await rm(path);
  }
}
