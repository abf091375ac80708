import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory with its parents, and returns those that did not exist, the outermost first. One by one, because the
 * recursive form of Node never returns where a file system answers ENOENT to every attempt (/proc).
 */
export function makeDirectories(path: string): readonly string[] {
  if (existsSync(path)) return [];
  const made = makeDirectories(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    removeEmpty(made);
    // Another program may have been faster.
    if (!existsSync(path)) throw error;
    return made;
  }
  return [...made, path];
}

/** Removes directories, the last one first, and stops at one that is not empty. */
export function removeEmpty(directories: readonly string[]): void {
  for (const path of directories.toReversed()) {
    try {
      rmdirSync(path);
    } catch {
      return;
    }
  }
}
