import { chmod, lchown, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a tree, also what its program made unreadable. It is closed first, from the top down: as root we would otherwise
 * follow a link that somebody put where a directory was. Idempotent.
 */
export async function removeTree(path: string): Promise<void> {
  await close(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
  await rm(path, { recursive: true, force: true });
}

/** From here on nobody else can change what is in it: a directory is ours before what it holds is looked at. */
async function close(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  if (process.geteuid?.() === 0) await lchown(path, 0, 0);
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await close(join(path, entry.name));
  }
}
