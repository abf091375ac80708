import { existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fateOf, ownTrace, tracePattern } from './process-trace.ts';
import { survey } from './survey.ts';

/** Where files are written before they are put in place. Its name says whose it is. */
const stagePrefix = '.botcli-init-';
const stageName = new RegExp(`^\\.botcli-init-(${tracePattern.source})-[A-Za-z0-9]{6}$`);

/**
 * A new folder on the same file system as the directory: beside it, or within it where it is a disk of its own (a container's
 * volume) or nothing can be written beside it.
 */
export function makeStage(directory: string): string {
  const name = `${stagePrefix}${ownTrace()}-`;
  if (existsSync(directory) && statSync(directory).dev !== statSync(dirname(directory)).dev) {
    return mkdtempSync(join(directory, name));
  }
  try {
    return mkdtempSync(join(dirname(directory), name));
  } catch (error) {
    if (!existsSync(directory)) throw error;
    return mkdtempSync(join(directory, name));
  }
}

/** A path as people know it: whatever is in a stage belongs to the directory that it is for. */
export function withoutStage(path: string, directory: string): string {
  return path.split(sep).some((part) => part.startsWith(stagePrefix)) ? directory : path;
}

/** Where a stage keeps what is replaced in a directory; it says where each file belongs, for whoever clears the stage. */
export function keptIn(stage: string, directory: string): string {
  return join(stage, 'old', relative(dirname(stage), directory));
}

/**
 * Removes the stages beside and within a directory whose processes were killed. What they had taken away, and put nothing
 * in place of, goes back first. A stage that may be somebody's, or that cannot be cleared, stays: it is in nobody's way.
 */
export function clearDeadStages(directory: string): void {
  for (const parent of [dirname(directory), directory]) {
    for (const name of namesIn(parent)) {
      const trace = stageName.exec(name)?.[1];
      if (trace !== undefined && fateOf(trace) === 'dead') clear(join(parent, name));
    }
  }
}

function clear(stage: string): void {
  try {
    const found = lstatSync(stage);
    // In a folder for everybody, another user's could be anything.
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return;
    putBack(stage);
    rmSync(stage, { recursive: true, force: true });
  } catch {
    // The next run tries again.
  }
}

function putBack(stage: string): void {
  const old = join(stage, 'old');
  if (!existsSync(old)) return;
  const entries = readdirSync(old, { recursive: true, withFileTypes: true });
  const kept = entries.filter((entry) => !entry.isDirectory());
  const files = kept.map(({ parentPath, name }) => ({ path: relative(old, join(parentPath, name)), text: '' }));
  const parent = dirname(stage);
  const { conflicts } = survey(parent, files);
  if (conflicts.some(({ kind }) => kind === 'blocked')) throw new Error('something is in the way');
  for (const { path } of files) {
    if (!existsSync(join(parent, path))) renameSync(join(old, path), join(parent, path));
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
