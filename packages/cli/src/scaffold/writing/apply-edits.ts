import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { textOf } from './survey.ts';

/** The text of a file before and after; null if there is no file. */
export type Edit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Journal with all edits of a change while they are applied. If botcli is killed, the next change finishes them. */
const journalPath = '.botcli/change.json';

/**
 * Applies all edits to a project, or none. The caller holds the project's lock. Writes the journal, then the new texts to
 * temporary files, then replaces each file by a rename, in the order of the edits. A failure restores the former files. If
 * botcli is killed, or restoring fails, each file is either old or new, and the journal remains for `finish`.
 *
 * @throws `Failure` files-changed, if a file is not as `before` says; errors of the system
 */
export function applyEdits(directory: string, edits: readonly Edit[], signal: AbortSignal): void {
  // The code below is synchronous and cannot see Ctrl-C, so this is the last check.
  signal.throwIfAborted();
  const journal = join(directory, journalPath);
  if (!createFile(journal, `${JSON.stringify({ edits })}\n`)) throw changedMeanwhile(journalPath);
  const createdDirectories: string[] = [];
  const originals: { readonly target: string; readonly bytes: Buffer | null }[] = [];
  try {
    // Write everything that needs disk space before the first file changes.
    for (const { path, after } of edits)
      if (after !== null) createdDirectories.push(...writeTemporary(join(directory, path), after));
    for (const { path, before, after } of edits) {
      const target = join(directory, path);
      if (textOf(target) !== before) throw changedMeanwhile(path);
      originals.push({ target, bytes: before === null ? null : readFileSync(target) });
      if (after === null) rmSync(target, { force: true });
      else renameSync(temporaryPath(target), target);
    }
  } catch (error) {
    for (const { path } of edits) rmSync(temporaryPath(join(directory, path)), { force: true });
    for (const { target, bytes } of originals.reverse()) replaceFile(target, bytes);
    rmSync(journal, { force: true });
    removeEmpty(createdDirectories);
    throw error;
  }
  rmSync(journal, { force: true });
}

/** The edits of an interrupted change; null if there is none, or if botcli did not write the journal. */
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
 * Applies the remaining edits of an interrupted change and removes its journal. Also removes an incomplete journal, after which
 * no file was changed. Skips files that were edited in the meantime.
 *
 * @returns the paths of the skipped files
 */
export function finish(directory: string, edits: readonly Edit[]): readonly string[] {
  const edited: string[] = [];
  for (const { path, before, after } of edits) {
    const target = join(directory, path);
    const current = textOf(target);
    if (current === before) replaceFile(target, after);
    else if (current !== after) edited.push(path);
    rmSync(temporaryPath(target), { force: true });
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

/** Replaces a file by a rename; null removes it. */
function replaceFile(target: string, content: string | Buffer | null): void {
  if (content === null) rmSync(target, { force: true });
  else {
    writeTemporary(target, content);
    renameSync(temporaryPath(target), target);
  }
}

/** The temporary file that is renamed to the target. */
function temporaryPath(target: string): string {
  return `${target}.botcli-new`;
}

/** Writes the temporary file, with the mode of the target. Returns the directories that were created for it. */
function writeTemporary(target: string, content: string | Buffer): readonly string[] {
  const status = statSync(target, { throwIfNoEntry: false });
  const created = makeDirectories(dirname(target));
  // A killed botcli may have left it. In another user's project it may be a link, which a write would follow.
  rmSync(temporaryPath(target), { force: true });
  writeFileSync(temporaryPath(target), content, { flag: 'wx' });
  if (status !== undefined) chmodSync(temporaryPath(target), status.mode);
  return created;
}

function isEdit(value: unknown): value is Edit {
  const { path, before, after } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isText = (one: unknown) => one === null || typeof one === 'string';
  return typeof path === 'string' && staysInside(path) && isText(before) && isText(after);
}

/** Whether a path stays inside the project. Paths come from files of the project, which can be hostile. */
export function staysInside(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(path);
}
