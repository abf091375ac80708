import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ProjectFile } from '../project/project-file.ts';

/**
 * Writes files into a directory so that they are all there or none. They are written into a folder beside it; a directory
 * that does not exist yet is then made by one rename. In one that exists each file is renamed into place, what it replaces
 * is kept aside until all are there, and a failure puts everything back. Only a kill amid those renames leaves a part.
 */
export function putInPlace(directory: string, files: readonly ProjectFile[], signal: AbortSignal): void {
  const parent = dirname(directory);
  const made = firstMissing(parent);
  makeDirectories(parent);
  try {
    const stage = stageFor(directory);
    try {
      const fresh = join(stage, 'new');
      write(fresh, files);
      // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honoured.
      signal.throwIfAborted();
      if (existsSync(directory)) moveEach(fresh, directory, join(stage, 'old'), files);
      else renameSync(fresh, directory);
    } finally {
      rmSync(stage, { recursive: true, force: true });
    }
  } catch (error) {
    if (made !== null) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/**
 * On the same file system as the directory: beside it, or within it where it is a disk of its own (a container's volume) or
 * nothing can be written beside it.
 */
function stageFor(directory: string): string {
  if (existsSync(directory) && statSync(directory).dev !== statSync(dirname(directory)).dev) {
    return mkdtempSync(join(directory, '.botcli-'));
  }
  const name = `.${basename(directory) || 'root'}.botcli-`;
  try {
    return mkdtempSync(join(dirname(directory), name));
  } catch (error) {
    if (!existsSync(directory)) throw error;
    return mkdtempSync(join(directory, '.botcli-'));
  }
}

function write(root: string, files: readonly ProjectFile[]): void {
  makeDirectories(root);
  for (const { path, text } of files) {
    const target = join(root, path);
    makeDirectories(dirname(target));
    writeFileSync(target, text, { flag: 'wx' });
  }
}

function moveEach(fresh: string, directory: string, old: string, files: readonly ProjectFile[]): void {
  const undo: (() => void)[] = [];
  try {
    for (const { path } of files) {
      const target = join(directory, path);
      const made = firstMissing(dirname(target));
      makeDirectories(dirname(target));
      if (made !== null) undo.push(() => rmSync(made, { recursive: true, force: true }));
      if (existsSync(target)) {
        const kept = join(old, path);
        makeDirectories(dirname(kept));
        renameSync(target, kept);
        undo.push(() => renameSync(kept, target));
      }
      renameSync(join(fresh, path), target);
      undo.push(() => rmSync(target, { force: true }));
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

/** One by one: the recursive form of Node never ends where a file system answers "not there" to every attempt (/proc). */
function makeDirectories(path: string): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path));
  mkdirSync(path);
}

/** The uppermost directory of a path that does not exist, or null when all do. */
function firstMissing(path: string): string | null {
  if (existsSync(path)) return null;
  return firstMissing(dirname(path)) ?? path;
}
