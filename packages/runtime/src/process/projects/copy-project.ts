import { constants } from 'node:fs';
import { chmod, chown, copyFile, lchown, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type DirectoryTree, readDirectoryTree } from '../../directory-tree.ts';
import { rethrowProjectError } from '../../project-entries.ts';

/**
 * Copies a project. Root owns the copy, which only the group `gid` can read; without `gid`, this process's account owns it.
 * Reports skipped files. Rejects with `ProjectPreparationError` like `readDirectoryTree`, and with the signal's reason after an
 * abort.
 */
export async function copyProject(
  from: string,
  to: string,
  gid: number | null,
  output: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { entries, skipped } = await readDirectoryTree(from);
  // Paths in the copy can exceed the system's limit, because the copy's root path may be longer. Report this as an error in the
  // project.
  await copyEntries(entries, { from, to, gid, signal }).catch(rethrowProjectError);
  for (const path of skipped) {
    output(`${path} is not deployed: its variables would override those of the agent`);
  }
}

type Copy = { readonly from: string; readonly to: string; readonly gid: number | null; readonly signal: AbortSignal };

async function copyEntries(entries: DirectoryTree['entries'], { from, to, gid, signal }: Copy): Promise<void> {
  const setAccess = async (path: string, mode: number) => {
    if (gid !== null) await chown(path, 0, gid);
    await chmod(path, mode);
  };
  await mkdir(to, { mode: 0o700 });
  for (const entry of entries) {
    signal.throwIfAborted();
    const path = join(to, entry.path);
    if (entry.kind === 'directory') {
      await mkdir(path);
      await setAccess(path, 0o750);
    } else if (entry.kind === 'link') {
      await symlink(entry.target, path);
      if (gid !== null) await lchown(path, 0, gid);
    } else {
      await copyFile(join(from, entry.path), path, constants.COPYFILE_FICLONE);
      await setAccess(path, entry.executable ? 0o750 : 0o640);
    }
  }
  await setAccess(to, 0o750);
}

export async function chownTree(path: string, uid: number, gid: number): Promise<void> {
  await lchown(path, uid, gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await chownTree(inner, uid, gid);
    else await lchown(inner, uid, gid);
  }
}
