import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOf } from './survey.ts';

/** What a file was and what it becomes; null where there is none. */
export type Edit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/**
 * What a change is going to do, kept in the project while it is done: whoever comes after one that was killed finishes it.
 * All of this is for the holder of the project's lock.
 */
const planPath = '.botcli/change.json';

/**
 * Makes all edits or none. What is going to be done is written down first, then the new texts beside the files, which are
 * replaced by a rename each; a failure puts back what was there. A kill, and a failure that cannot be undone, leave every
 * file old or new, and the plan, which `finish` carries out.
 */
export function carryOut(directory: string, edits: readonly Edit[], signal: AbortSignal): void {
  // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honoured.
  signal.throwIfAborted();
  replace(join(directory, planPath), `${JSON.stringify({ edits })}\n`);
  const done: Edit[] = [];
  try {
    // Whatever needs room on the disk comes before the first file changes.
    for (const { path, after } of edits) if (after !== null) writeBeside(join(directory, path), after);
    for (const edit of edits) {
      done.push(edit);
      const target = join(directory, edit.path);
      if (edit.after === null) rmSync(target, { force: true });
      else renameSync(besideOf(target), target);
    }
  } catch (error) {
    for (const { path } of edits) rmSync(besideOf(join(directory, path)), { force: true });
    for (const { path, before } of done.reverse()) settle(directory, path, before);
    rmSync(join(directory, planPath), { force: true });
    throw error;
  }
  rmSync(join(directory, planPath), { force: true });
}

/** The edits of a change that was broken off; null when there is none. A plan that nobody of ours wrote is none. */
export function brokenOff(directory: string): readonly Edit[] | null {
  const text = textOf(join(directory, planPath));
  if (text === null) return null;
  try {
    const { edits } = JSON.parse(text) as { readonly edits?: unknown };
    return Array.isArray(edits) && edits.every(isEdit) ? edits : null;
  } catch {
    return null;
  }
}

/** Removes what a change left that was killed before its plan was there: nothing of it had been done. */
export function clearUnplanned(directory: string): void {
  rmSync(besideOf(join(directory, planPath)), { force: true });
}

/** Carries out what is left of a change. Files that somebody edited since are left alone; their paths are the answer. */
export function finish(directory: string, edits: readonly Edit[]): readonly string[] {
  const left: string[] = [];
  for (const { path, before, after } of edits) {
    const now = textOf(join(directory, path));
    if (now === before) settle(directory, path, after);
    else if (now !== after) left.push(path);
    rmSync(besideOf(join(directory, path)), { force: true });
  }
  rmSync(join(directory, planPath), { force: true });
  return left;
}

function settle(directory: string, path: string, text: string | null): void {
  const target = join(directory, path);
  if (text === null) rmSync(target, { force: true });
  else replace(target, text);
}

/** By one rename. */
function replace(target: string, text: string): void {
  try {
    writeBeside(target, text);
    renameSync(besideOf(target), target);
  } catch (error) {
    rmSync(besideOf(target), { force: true });
    throw error;
  }
}

/** Where a file's next text waits for its rename. */
function besideOf(target: string): string {
  return `${target}.botcli-new`;
}

/** What may be done with the file stays. */
function writeBeside(target: string, text: string): void {
  const found = statSync(target, { throwIfNoEntry: false });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(besideOf(target), text);
  if (found !== undefined) chmodSync(besideOf(target), found.mode);
}

function isEdit(value: unknown): value is Edit {
  const { path, before, after } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isText = (one: unknown) => one === null || typeof one === 'string';
  return typeof path === 'string' && staysInside(path) && isText(before) && isText(after);
}

/** Files in a project may come from anywhere, and the paths in them are read, written and removed. */
export function staysInside(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(path);
}
