import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectFile } from '../project-file.ts';

/**
 * A file that cannot be written, with the reason. `--force` overwrites a `different` file, but does not help if the path is
 * `blocked`, for example by a directory.
 */
export type FileConflict = { readonly path: string; readonly kind: 'different' | 'blocked'; readonly message: string };

export type DirectorySurvey = { readonly missing: readonly ProjectFile[]; readonly conflicts: readonly FileConflict[] };

export function surveyDirectory(directory: string, files: readonly ProjectFile[]): DirectorySurvey {
  const missing: ProjectFile[] = [];
  const conflicts: FileConflict[] = [];
  for (const file of files) {
    const conflict = findBlock(directory, file.path) ?? findDifference(directory, file);
    if (conflict !== null) conflicts.push(conflict);
    if (conflict !== null || !exists(join(directory, file.path))) missing.push(file);
  }
  return { missing, conflicts };
}

/** Reads a file without its byte-order mark, which parsers refuse. */
export function readTextIfExists(path: string): string | null {
  return exists(path) ? readFileSync(path, 'utf8').replace(/^\uFEFF/, '') : null;
}

/** Reads a file without following links. Returns '' if the path is a link or directory, and null if it does not exist. */
export function readRegularFileText(directory: string, path: string): string | null {
  return findBlock(directory, path) === null ? readTextIfExists(join(directory, path)) : '';
}

/**
 * Returns a conflict if a parent of `path` is not a directory, or if `path` exists and is not a regular file. Links are
 * conflicts, because they can lead out of the project.
 */
function findBlock(directory: string, path: string): FileConflict | null {
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
  const message = status.isSymbolicLink()
    ? 'this path is a link'
    : status.isDirectory()
      ? 'this path is a directory'
      : 'this path is not a regular file';
  return { path, kind: 'blocked', message };
}

function findDifference(directory: string, { path, text }: ProjectFile): FileConflict | null {
  const target = join(directory, path);
  if (!exists(target) || readFileSync(target).equals(Buffer.from(text))) return null;
  return { path, kind: 'different', message: 'the file already exists with different content' };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
