import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Also what a program of the same account made unreadable. Idempotent. */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await unlock(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function unlock(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(join(directory, entry.name));
  }
}
