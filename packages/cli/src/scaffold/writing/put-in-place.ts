import { existsSync, linkSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProjectFile } from '../project/project-file.ts';
import { keptIn, makeStage } from './stage.ts';

/**
 * Writes files into a directory so that they are all there or none. They are written into a folder beside it; a directory
 * that does not exist yet is then made by one rename. In one that exists each file is renamed into place, what it replaces
 * is kept aside until all are there, and a failure puts everything back. Only a kill amid those renames leaves a part;
 * the stage of who was killed is cleared by the next run (`clearDeadStages`).
 * Only the `replaced` ones may be there before: what somebody else puts there meanwhile is an error of the system (EEXIST,
 * ENOTEMPTY), and stays.
 */
export function putInPlace(
  directory: string,
  files: readonly ProjectFile[],
  replaced: ReadonlySet<string>,
  signal: AbortSignal,
): void {
  const made: string[] = [];
  try {
    makeDirectories(dirname(directory), made);
    const stage = makeStage(directory);
    try {
      const fresh = join(stage, 'new');
      write(fresh, files);
      // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honoured.
      signal.throwIfAborted();
      if (existsSync(directory)) moveEach({ fresh, directory, old: keptIn(stage, directory), files, replaced });
      else renameSync(fresh, directory);
    } finally {
      rmSync(stage, { recursive: true, force: true });
    }
  } catch (error) {
    removeEmpty(made);
    throw error;
  }
}

function write(root: string, files: readonly ProjectFile[]): void {
  makeDirectories(root, []);
  for (const { path, text } of files) {
    const target = join(root, path);
    makeDirectories(dirname(target), []);
    writeFileSync(target, text, { flag: 'wx' });
  }
}

type Move = {
  readonly fresh: string;
  readonly directory: string;
  readonly old: string;
  readonly files: readonly ProjectFile[];
  readonly replaced: ReadonlySet<string>;
};

function moveEach({ fresh, directory, old, files, replaced }: Move): void {
  const undo: (() => void)[] = [];
  const made: string[] = [];
  try {
    for (const { path } of files) {
      const target = join(directory, path);
      makeDirectories(dirname(target), made);
      if (replaced.has(path) && existsSync(target)) {
        const kept = join(old, path);
        makeDirectories(dirname(kept), []);
        renameSync(target, kept);
        undo.push(() => renameSync(kept, target));
      }
      moveNew(join(fresh, path), target);
      undo.push(() => rmSync(target, { force: true }));
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    removeEmpty(made);
    throw error;
  }
}

/** A rename would replace a file that another program has put there meanwhile; a second name for the new one does not. */
function moveNew(fresh: string, target: string): void {
  try {
    linkSync(fresh, target);
  } catch (error) {
    // Some file systems know no second names.
    if (existsSync(target)) throw error;
    renameSync(fresh, target);
  }
}

/**
 * One by one: the recursive form of Node never ends where a file system answers "not there" to every attempt (/proc). What
 * had to be made is added to `made`.
 */
function makeDirectories(path: string, made: string[]): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path), made);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another program was faster.
    if (existsSync(path)) return;
    throw error;
  }
  made.push(path);
}

/** The deepest first; what others have put files into stays. */
function removeEmpty(directories: readonly string[]): void {
  for (const path of directories.toReversed()) {
    try {
      rmdirSync(path);
    } catch {
      return;
    }
  }
}
