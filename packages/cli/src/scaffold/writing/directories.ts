import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory with its parents, and returns the created ones, outermost first. Not `recursive`, because Node then loops
 * forever on file systems that answer ENOENT to every mkdir, such as /proc.
 */
export function makeDirectories(path: string): readonly string[] {
  if (existsSync(path)) return [];
  const created = makeDirectories(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    removeEmpty(created);
    // Another program may have created it first.
    if (!existsSync(path)) throw error;
    return created;
  }
  return [...created, path];
}

/** Removes directories from last to first, and stops at one that is not empty. */
export function removeEmpty(directories: readonly string[]): void {
  for (const path of directories.toReversed()) {
    try {
      rmdirSync(path);
    } catch {
      return;
    }
  }
}
