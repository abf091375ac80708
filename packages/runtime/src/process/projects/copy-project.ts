import { constants } from 'node:fs';
import { chmod, chown, copyFile, lchown, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readTree, type Tree } from '../../directory-tree.ts';
import { throwProjectError } from '../../project-entries.ts';

/**
 * Copies a project: root's, readable for the group and for nobody else; where `gid` is null, our own. What is left out is
 * told. Rejects with `PrepareError` as `readTree` does, and with the signal's reason.
 */
export async function copyProject(
  from: string,
  to: string,
  gid: number | null,
  output: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { entries, leftOut } = await readTree(from);
  // A path may be longer in the copy.
  await copyEntries(entries, { from, to, gid, signal }).catch(throwProjectError);
  for (const path of leftOut) {
    output(`${path} is left out of the deployment: its variables would override those of the agent`);
  }
}

type Copy = { readonly from: string; readonly to: string; readonly gid: number | null; readonly signal: AbortSignal };

async function copyEntries(entries: Tree['entries'], { from, to, gid, signal }: Copy): Promise<void> {
  const own = async (path: string, mode: number) => {
    if (gid !== null) await chown(path, 0, gid);
    await chmod(path, mode);
  };
  await mkdir(to, { mode: 0o700 });
  for (const entry of entries) {
    signal.throwIfAborted();
    const path = join(to, entry.path);
    if (entry.kind === 'directory') {
      await mkdir(path);
      await own(path, 0o750);
    } else if (entry.kind === 'link') {
      await symlink(entry.target, path);
      if (gid !== null) await lchown(path, 0, gid);
    } else {
      await copyFile(join(from, entry.path), path, constants.COPYFILE_FICLONE);
      await own(path, entry.executable ? 0o750 : 0o640);
    }
  }
  await own(to, 0o750);
}

/** Gives a tree that only root could write to an account, which is to build in it. */
export async function handOver(path: string, uid: number, gid: number): Promise<void> {
  await lchown(path, uid, gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await handOver(inner, uid, gid);
    else await lchown(inner, uid, gid);
  }
}
