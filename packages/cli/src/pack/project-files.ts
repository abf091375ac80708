import { isUtf8 } from 'node:buffer';
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { Failure } from '../failure.ts';
import { type ExcludedPath, measureExcluded } from './excluded-path.ts';
import type { ExclusionRules } from './exclusion-rules.ts';

/** One entry of an archive. */
export type ProjectFile = {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  /** Bytes; 0 for a link. */
  readonly size: number;
  /** The target of a link, relative to the project; null for a file. */
  readonly target: string | null;
  /** The attributes when the project was listed. */
  readonly status: Stats;
};

export type ProjectFiles = {
  /** In the order of the archive: by path, in code units, independent of the locale. */
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
      'Remove them, or exclude them with an ignore file or [build.exclude] in the deploy file.',
      listing.rejected,
    );
  }
  return { files: byPath(listing.files), excluded: byPath(listing.excluded) };
}

function byPath<T extends { readonly path: string }>(entries: readonly T[]): readonly T[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type WalkState = {
  readonly root: string;
  readonly rules: ExclusionRules;
  readonly listing: ListedFiles;
  /** Remaining entries to count in excluded folders, so that counting stays fast. */
  readonly budget: { entries: number };
};

/** `outBy` is the reason why the folder is excluded, if a pattern can still include something in it. */
async function walk(walking: WalkState, folder: string, outBy: string | null): Promise<void> {
  const { root, rules, listing } = walking;
  if (outBy === null) await rules.enterFolder(folder);
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(join(root, folder), options).catch((error: unknown) => {
    throw unreadable(folder === '' ? root : folder, error);
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
  const refused = entry.isSymbolicLink()
    ? await linkProblem(root, path)
    : entry.isFile()
      ? null
      : 'is not a file, folder or link';
  if (refused !== null) {
    listing.rejected.push({ path, message: refused });
    return;
  }
  const status = await lstat(join(root, path)).catch((error: unknown) => {
    throw unreadable(path, error);
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
  const outwards = `is a link out of the project, to ${target}`;
  if (!isWithin(root, join(dirname(file), target))) return outwards;
  const real = await realpath(file).catch(() => null);
  return real === null || isWithin(root, real) ? null : outwards;
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function unreadable(path: string, error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
  return new Failure('file-unreadable', `Cannot read ${path}${code}.`);
}
