import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectFile } from '../project-file.ts';

/** Why a file cannot be written. A `different` file can be overwritten with --force, a `blocked` path cannot. */
export type Conflict = { readonly path: string; readonly kind: 'different' | 'blocked'; readonly message: string };

/** The files that must be written, and the conflicts with existing files. */
export type Survey = { readonly missing: readonly ProjectFile[]; readonly conflicts: readonly Conflict[] };

/** Compares files with a directory, which need not exist. Writes nothing. */
export function survey(directory: string, files: readonly ProjectFile[]): Survey {
  const missing: ProjectFile[] = [];
  const conflicts: Conflict[] = [];
  for (const file of files) {
    const conflict = blockOf(directory, file.path) ?? differenceOf(directory, file);
    if (conflict !== null) conflicts.push(conflict);
    if (conflict !== null || !exists(join(directory, file.path))) missing.push(file);
  }
  return { missing, conflicts };
}

/** The text of a file, or null if there is none. */
export function textOf(path: string): string | null {
  return exists(path) ? readFileSync(path, 'utf8') : null;
}

/** The text of a file; '' if a link or directory is in its place, null if there is nothing. */
export function fileText(directory: string, path: string): string | null {
  return blockOf(directory, path) === null ? textOf(join(directory, path)) : '';
}

/** A link, or something that is not a directory, on the path. Links are never followed, because they can lead out of the project. */
function blockOf(directory: string, path: string): Conflict | null {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const parent = parts.slice(0, length).join('/');
    const status = lstatSync(join(directory, parent), { throwIfNoEntry: false });
    if (status !== undefined && !status.isDirectory()) {
      return { path, kind: 'blocked', message: `${parent} is not a directory` };
    }
  }
  const status = lstatSync(join(directory, path), { throwIfNoEntry: false });
  if (status === undefined || status.isFile()) return null;
  const kind = status.isSymbolicLink() ? 'a link' : status.isDirectory() ? 'a directory' : 'not a regular file';
  return { path, kind: 'blocked', message: `is ${kind}` };
}

function differenceOf(directory: string, { path, text }: ProjectFile): Conflict | null {
  const target = join(directory, path);
  if (!exists(target) || readFileSync(target).equals(Buffer.from(text))) return null;
  return { path, kind: 'different', message: 'exists and differs' };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
