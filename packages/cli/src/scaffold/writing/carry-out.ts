import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { textOf } from './survey.ts';

/** What a file was and what it becomes; null where there is none. */
export type Edit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** The journal: all edits of a change, in the project while it is carried out. If that is killed, the next change finishes it. */
const journalPath = '.botcli/change.json';

/**
 * Makes all edits of a project or none; the caller holds the project's lock. The journal is written first, then the new texts
 * beside the files, then each file is replaced by a rename, in the order of the edits. A failure restores what was there. A
 * kill, and a failure that cannot be undone, leave every file old or new, and the journal for `finish`.
 *
 * @throws `Failure` files-changed, where a file is no longer what its edit says; errors of the system
 */
export function carryOut(directory: string, edits: readonly Edit[], signal: AbortSignal): void {
  // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honored.
  signal.throwIfAborted();
  const journal = join(directory, journalPath);
  if (!createFile(journal, `${JSON.stringify({ edits })}\n`)) throw changedMeanwhile(journalPath);
  const made: string[] = [];
  const originals: { readonly target: string; readonly bytes: Buffer | null }[] = [];
  try {
    // Whatever needs room on the disk comes before the first file changes.
    for (const { path, after } of edits) if (after !== null) made.push(...writeBeside(join(directory, path), after));
    for (const { path, before, after } of edits) {
      const target = join(directory, path);
      if (textOf(target) !== before) throw changedMeanwhile(path);
      originals.push({ target, bytes: before === null ? null : readFileSync(target) });
      if (after === null) rmSync(target, { force: true });
      else renameSync(besideOf(target), target);
    }
  } catch (error) {
    for (const { path } of edits) rmSync(besideOf(join(directory, path)), { force: true });
    for (const { target, bytes } of originals.reverse()) settle(target, bytes);
    rmSync(journal, { force: true });
    removeEmpty(made);
    throw error;
  }
  rmSync(journal, { force: true });
}

/** The edits of a change that was interrupted; null when there is none. A journal that botcli did not write is none. */
export function interruptedChange(directory: string): readonly Edit[] | null {
  const text = textOf(join(directory, journalPath));
  if (text === null) return null;
  try {
    const { edits } = JSON.parse(text) as { readonly edits?: unknown };
    return Array.isArray(edits) && edits.every(isEdit) ? edits : null;
  } catch {
    return null;
  }
}

/**
 * Carries out what is left of an interrupted change, and removes its journal, also one whose writing was interrupted: then
 * nothing else had been done. Files that somebody edited since are left alone.
 *
 * @returns the paths of those files
 */
export function finish(directory: string, edits: readonly Edit[]): readonly string[] {
  const edited: string[] = [];
  for (const { path, before, after } of edits) {
    const target = join(directory, path);
    const now = textOf(target);
    if (now === before) settle(target, after);
    else if (now !== after) edited.push(path);
    rmSync(besideOf(target), { force: true });
  }
  rmSync(join(directory, journalPath), { force: true });
  return edited;
}

function changedMeanwhile(path: string): Failure {
  return new Failure(
    'files-changed',
    'Some files were changed in the meantime. Nothing was changed.',
    'Run the command again.',
    [{ path, message: 'was changed in the meantime' }],
  );
}

/** By one rename; null removes the file. */
function settle(target: string, content: string | Buffer | null): void {
  if (content === null) rmSync(target, { force: true });
  else {
    writeBeside(target, content);
    renameSync(besideOf(target), target);
  }
}

/** Where a file's next content waits for its rename. */
function besideOf(target: string): string {
  return `${target}.botcli-new`;
}

/** With the mode of the file. Returns the directories that were made for it. */
function writeBeside(target: string, content: string | Buffer): readonly string[] {
  const found = statSync(target, { throwIfNoEntry: false });
  const made = makeDirectories(dirname(target));
  // Left by a kill. In a project of somebody else it may also be a link, which a write would follow.
  rmSync(besideOf(target), { force: true });
  writeFileSync(besideOf(target), content, { flag: 'wx' });
  if (found !== undefined) chmodSync(besideOf(target), found.mode);
  return made;
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
