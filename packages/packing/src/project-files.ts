import { countExcludedFiles, type ExcludedPath } from './excluded-path.ts';
import { type ExclusionRules, readExclusionRules } from './exclusion-rules.ts';
import type { Folder, FolderEntry } from './folder.ts';
import { PackingError, type PackingIssue } from './packing-error.ts';

export type ProjectFile = {
  readonly path: string;
  /** Size of the file in bytes. 0 for a link. */
  readonly size: number;
  /** The target of a link. Null if the entry is a file. */
  readonly link: { readonly target: string; readonly projectPath: string } | null;
  readonly read: () => AsyncIterable<Uint8Array>;
};

export type ProjectFiles = {
  /** Files sorted by the UTF-16 code units of their paths, because an order that depends on the locale would change archives. */
  readonly files: readonly ProjectFile[];
  readonly excluded: readonly ExcludedPath[];
  /** The patterns of `[build.exclude]` that match no file and no folder outside excluded folders. */
  readonly unmatchedPatterns: readonly string[];
};

type ListedFiles = {
  readonly files: ProjectFile[];
  readonly excluded: ExcludedPath[];
  readonly rejected: PackingIssue[];
};

/**
 * Lists the packed and excluded files of a project. `patterns` are those of `[build.exclude]` in the deploy file. Empty folders
 * are not packed, as in git. Throws a `PackingError` that names all files that cannot be packed.
 */
export async function listProjectFiles(project: Folder, patterns: readonly string[]): Promise<ProjectFiles> {
  const listing: ListedFiles = { files: [], excluded: [], rejected: [] };
  const rules = await readExclusionRules(await project.list(), patterns);
  await walk({ rules, listing, budget: { entries: 10_000 } }, project, '', null);
  if (listing.rejected.length > 0) {
    throw new PackingError(
      'project-unpackable',
      'The project contains files that cannot be packed.',
      'Remove the listed files, or exclude them with an ignore file or [build.exclude] in the deploy file.',
      sortByPath(listing.rejected),
    );
  }
  const { files, excluded } = listing;
  return { files: sortByPath(files), excluded: sortByPath(excluded), unmatchedPatterns: rules.unmatchedPatterns() };
}

function sortByPath<T extends { readonly path: string }>(entries: readonly T[]): readonly T[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type WalkState = {
  readonly rules: ExclusionRules;
  readonly listing: ListedFiles;
  /** Entries that may still be counted, because excluded directories such as node_modules can be huge. */
  readonly budget: { entries: number };
};

/**
 * Lists the files below a directory. `excludedBy` says why the directory itself is excluded, and is null if it is not. An
 * excluded directory is searched only if a pattern can include some of its files.
 */
async function walk(walking: WalkState, folder: Folder, path: string, excludedBy: string | null): Promise<void> {
  const { rules, listing } = walking;
  const entries = await folder.list();
  if (excludedBy === null) await rules.enterFolder(path, entries);
  const packed: Promise<void>[] = [];
  for (const entry of entries) {
    const entryPath = path === '' ? entry.name : `${path}/${entry.name}`;
    const isFolder = entry.kind === 'folder';
    const reason = rules.reason(entryPath, isFolder);
    if (reason !== null && !(isFolder && !rules.canPruneFolders && reason !== 'always'))
      listing.excluded.push(await countExcludedFiles(entryPath, entry, reason, walking.budget));
    else if (isFolder) await walk(walking, entry, entryPath, reason);
    else packed.push(addFile(entryPath, entry, listing));
  }
  await Promise.all(packed);
}

async function addFile(path: string, entry: Exclude<FolderEntry, Folder>, listing: ListedFiles): Promise<void> {
  if (entry.kind === 'unsupported') listing.rejected.push({ path, message: entry.problem });
  else if (entry.kind === 'file') listing.files.push({ path, size: await entry.size(), link: null, read: entry.read });
  else {
    const { problem, ...link } = await entry.resolve();
    if (problem !== null) listing.rejected.push({ path, message: problem });
    else listing.files.push({ path, size: 0, link, read: entry.read });
  }
}
