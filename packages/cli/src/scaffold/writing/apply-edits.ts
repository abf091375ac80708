import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getObjectFields } from '@bothost/contract/json-object';
import { Failure } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmptyDirectories } from './directories.ts';
import { readTextIfExists } from './survey.ts';

/** The text of a file before and after a change. Null means that the file does not exist. */
export type FileEdit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/**
 * The path of the journal. The journal exists while a change is applied and contains all edits of the change. If botcli is
 * killed, the next command that changes the project applies the remaining edits.
 */
const journalPath = '.botcli/change.json';

/**
 * Applies all edits to a project, or none. The caller holds the project's lock. A failure restores the former files. If botcli
 * is killed, each file is either old or new, and `finishInterruptedChange` applies the remaining edits from the journal. @throws `Failure`
 * files-changed, if a file does not match `before`; system errors
 */
export function applyEdits(directory: string, edits: readonly FileEdit[], signal: AbortSignal): void {
  // This is the last check for Ctrl-C, because the code below is synchronous and cannot be interrupted.
  signal.throwIfAborted();
  const journal = join(directory, journalPath);
  if (!createFile(journal, `${JSON.stringify({ edits })}\n`)) throw filesChangedFailure(journalPath);
  const createdDirectories: string[] = [];
  const originals: { readonly target: string; readonly bytes: Buffer | null }[] = [];
  try {
    // Write everything that needs disk space before the first file changes.
    for (const { path, after } of edits)
      if (after !== null) createdDirectories.push(...writeTemporary(join(directory, path), after));
    for (const { path, before, after } of edits) {
      const target = join(directory, path);
      if (readTextIfExists(target) !== before) throw filesChangedFailure(path);
      originals.push({ target, bytes: before === null ? null : readFileSync(target) });
      if (after === null) rmSync(target, { force: true });
      else renameSync(temporaryPath(target), target);
    }
  } catch (error) {
    for (const { path } of edits) rmSync(temporaryPath(join(directory, path)), { force: true });
    for (const { target, bytes } of originals.reverse()) replaceFile(target, bytes);
    rmSync(journal, { force: true });
    removeEmptyDirectories(createdDirectories);
    throw error;
  }
  rmSync(journal, { force: true });
}

/** Reads the journal of an interrupted change. Returns null if there is none, or if botcli did not write it. */
export function readInterruptedChange(directory: string): readonly FileEdit[] | null {
  const text = readTextIfExists(join(directory, journalPath));
  if (text === null) return null;
  try {
    const { edits } = getObjectFields(JSON.parse(text));
    return Array.isArray(edits) && edits.every(isEdit) ? edits : null;
  } catch {
    return null;
  }
}

/**
 * Applies the remaining edits of an interrupted change and removes its journal. For an incomplete journal, `edits` is empty,
 * because no file was changed yet. Skips files that were edited after the interruption. @returns the paths of the skipped files
 */
export function finishInterruptedChange(directory: string, edits: readonly FileEdit[]): readonly string[] {
  const edited: string[] = [];
  for (const { path, before, after } of edits) {
    const target = join(directory, path);
    const current = readTextIfExists(target);
    if (current === before) replaceFile(target, after);
    else if (current !== after) edited.push(path);
    rmSync(temporaryPath(target), { force: true });
  }
  rmSync(join(directory, journalPath), { force: true });
  return edited;
}

function filesChangedFailure(path: string): Failure {
  return new Failure(
    'files-changed',
    'Another program changed files at the same time. Nothing was changed.',
    'Run the command again.',
    { issues: [{ path, message: 'another program changed this file' }] },
  );
}

/** Replaces a file by a rename, or removes it if `content` is null. */
function replaceFile(target: string, content: string | Buffer | null): void {
  if (content === null) rmSync(target, { force: true });
  else {
    writeTemporary(target, content);
    renameSync(temporaryPath(target), target);
  }
}

function temporaryPath(target: string): string {
  return `${target}.botcli-new`;
}

/** Writes the temporary file with the mode of the target. Returns the directories that were created for the file. */
function writeTemporary(target: string, content: string | Buffer): readonly string[] {
  const status = statSync(target, { throwIfNoEntry: false });
  const created = makeDirectories(dirname(target));
  // Remove an existing temporary file, which a killed botcli may have left. In a hostile project it may be a link, which a write
  // would follow.
  rmSync(temporaryPath(target), { force: true });
  writeFileSync(temporaryPath(target), content, { flag: 'wx' });
  if (status !== undefined) chmodSync(temporaryPath(target), status.mode);
  return created;
}

function isEdit(value: unknown): value is FileEdit {
  const { path, before, after } = getObjectFields(value);
  const isText = (one: unknown) => one === null || typeof one === 'string';
  return typeof path === 'string' && isInsideProject(path) && isText(before) && isText(after);
}

/** Returns whether a path is inside the project. Paths are read from files of the project, which may be hostile. */
export function isInsideProject(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(path);
}
