import { isUtf8 } from 'node:buffer';
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { Failure } from '../failure.ts';
import { type ExcludedPath, measureExcluded } from './excluded-path.ts';
import type { ExclusionRules } from './exclusion-rules.ts';

export type ProjectFile = {
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly size: number;
  /** Target of a link, relative to the project. Null for a file. */
  readonly target: string | null;
  readonly status: Stats;
};

export type ProjectFiles = {
  /** Sorted by path in code units, so that archives do not depend on the locale. */
  readonly files: readonly ProjectFile[];
  readonly excluded: readonly ExcludedPath[];
};

type RejectedFile = { readonly path: string; readonly message: string };
type ListedFiles = {
  readonly files: ProjectFile[];
  readonly excluded: ExcludedPath[];
  readonly rejected: RejectedFile[];
};

/**
 * Lists the packed and excluded files of a project. Empty folders are not packed, as in git. Throws a `Failure` that names
 * all links out of the project, all special files, and all names that are not UTF-8.
 */
export async function listProject(root: string, rules: ExclusionRules): Promise<ProjectFiles> {
  const listing: ListedFiles = { files: [], excluded: [], rejected: [] };
  await walk({ root, rules, listing, budget: { entries: 10_000 } }, '', null);
  if (listing.rejected.length > 0) {
    throw new Failure(
      'project-unpackable',
      'The project contains files that cannot be packed.',
      'Remove these files, or exclude them with an ignore file or [build.exclude] in the deploy file.',
      listing.rejected,
    );
  }
  return { files: sortByPath(listing.files), excluded: sortByPath(listing.excluded) };
}

function sortByPath<T extends { readonly path: string }>(entries: readonly T[]): readonly T[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type WalkState = {
  readonly root: string;
  readonly rules: ExclusionRules;
  readonly listing: ListedFiles;
  /** How many entries of excluded directories may still be counted. The limit keeps counting fast. */
  readonly budget: { entries: number };
};

/** `excludedBy` is the reason why the directory is excluded, if a pattern can still include a file in it. */
async function walk(walking: WalkState, folder: string, excludedBy: string | null): Promise<void> {
  const { root, rules, listing } = walking;
  if (excludedBy === null) await rules.enterFolder(folder);
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(join(root, folder), options).catch((error: unknown) => {
    throw unreadableFailure(folder === '' ? root : folder, error);
  });
  const packed: Promise<void>[] = [];
  for (const entry of entries) {
    const below = (name: string) => (folder === '' ? name : `${folder}/${name}`);
    const path = below(entry.name.toString());
    const reason = rules.reason(path, entry.isDirectory());
    if (reason !== null && !(entry.isDirectory() && !rules.canPruneFolders && reason !== 'always')) {
      listing.excluded.push(await measureExcluded(root, path, reason, walking.budget));
    } else if (!isUtf8(entry.name)) {
      listing.rejected.push({
        path: below(escapeBytes(entry.name)),
        message: 'has a name that is not UTF-8; rename it',
      });
    } else if (entry.isDirectory()) await walk(walking, path, reason);
    else packed.push(addFile(root, path, entry, listing));
  }
  await Promise.all(packed);
}

async function addFile(root: string, path: string, entry: Dirent<Buffer>, listing: ListedFiles): Promise<void> {
  const problem = entry.isSymbolicLink()
    ? await linkProblem(root, path)
    : entry.isFile()
      ? null
      : 'is not a file, directory or link';
  if (problem !== null) {
    listing.rejected.push({ path, message: problem });
    return;
  }
  const status = await lstat(join(root, path)).catch((error: unknown) => {
    throw unreadableFailure(path, error);
  });
  const kind = entry.isFile() ? 'file' : 'link';
  const target = kind === 'link' ? await linkTarget(root, path) : null;
  listing.files.push({ path, kind, size: kind === 'file' ? status.size : 0, target, status });
}

/** Each byte that is not printable ASCII as `\\xNN`. */
function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^ -~]|\\/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

async function linkTarget(root: string, path: string): Promise<string> {
  const file = join(root, path);
  return relative(root, join(dirname(file), await readlink(file)))
    .split(sep)
    .join('/');
}

async function linkProblem(root: string, path: string): Promise<string | null> {
  const file = join(root, path);
  const target = await readlink(file);
  if (isAbsolute(target)) return `is a link to an absolute path, ${target}`;
  const outsideProblem = `is a link out of the project, to ${target}`;
  if (!isWithin(root, join(dirname(file), target))) return outsideProblem;
  const real = await realpath(file).catch(() => null);
  return real === null || isWithin(root, real) ? null : outsideProblem;
}

function isWithin(root: string, path: string): boolean {
  const relativePath = relative(root, path);
  return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath);
}

function unreadableFailure(path: string, error: unknown): Failure {
  const errorCode = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new Failure('file-unreadable', `Cannot read ${path} (${errorCode}).`);
}
