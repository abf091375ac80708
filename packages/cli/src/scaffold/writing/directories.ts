import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory with its missing parents, and returns the created directories, outermost first. Does not use the option
 * `recursive` of mkdir, with which Node loops forever on file systems that return ENOENT for every mkdir, such as /proc.
 */
export function makeDirectories(path: string): readonly string[] {
  if (existsSync(path)) return [];
  const created = makeDirectories(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    removeEmptyDirectories(created);
    // Another program may have created the directory at the same time.
    if (!existsSync(path)) throw error;
    return created;
  }
  return [...created, path];
}

/** Removes empty directories from the last to the first, and stops at the first directory that is not empty. */
export function removeEmptyDirectories(directories: readonly string[]): void {
  for (const path of directories.toReversed()) {
    try {
      rmdirSync(path);
    } catch {
      return;
    }
  }
}
