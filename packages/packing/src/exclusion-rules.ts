import ignore from 'ignore';
import { defaultExclusionPatterns, isAlwaysExcluded } from './default-exclusions.ts';
import { type DockerIgnore, readDockerIgnore } from './docker-ignore.ts';
import { type FolderEntry, readTextFile } from './folder.ts';
import { PackingError } from './packing-error.ts';

export type ExclusionRules = {
  /** Reads the ignore file of a directory (`''` is the root). Call this before `reason` for paths in the directory. */
  readonly enterFolder: (folder: string, entries: readonly FolderEntry[]) => Promise<void>;
  /** Returns why a path is excluded, or null if it is not. The path is relative to the project, with forward slashes. */
  readonly reason: (path: string, isFolder: boolean) => string | null;
  /** Returns the patterns of the deploy file that matched none of the paths for which `reason` was called. */
  readonly unmatchedPatterns: () => readonly string[];
  /** True if no pattern can include a file in an excluded directory, so the directory can be skipped. */
  readonly canPruneFolders: boolean;
};

/**
 * Reads `.dockerignore` or, if there is none, the default patterns and every `.gitignore`. The patterns in `[build.exclude]` of
 * the deploy file use the syntax of `.gitignore` and take precedence over all others.
 */
export async function readExclusionRules(
  rootEntries: readonly FolderEntry[],
  excluded: readonly string[],
): Promise<ExclusionRules> {
  const mark = '[build.exclude] of the deploy file';
  const last = excluded.map((pattern) => ({ pattern: normalizePattern(pattern), mark }));
  const docker = await readDockerRules(rootEntries);
  const { reason, ...rules } = docker === null ? gitRules(last) : dockerRules(docker, last);
  let unmatched = excluded.map((text) => ({
    text,
    matcher: ignore().add(normalizePattern(text).replace(/^!/, '')),
  }));
  return {
    ...rules,
    reason: (path, isFolder) => {
      unmatched = unmatched.filter(({ matcher }) => !matcher.ignores(isFolder ? `${path}/` : path));
      return reason(path, isFolder);
    },
    unmatchedPatterns: () => unmatched.map(({ text }) => text),
  };
}

/** Converts `./data` to `/data`, and removes other empty segments and `.` segments, which would match nothing. */
function normalizePattern(pattern: string): string {
  return pattern.replace(/^(!?)\.\//, '$1/').replace(/\/(\.?\/)+/g, '/');
}

type IgnorePattern = { readonly pattern: string; readonly mark: string };
type PathRules = Omit<ExclusionRules, 'unmatchedPatterns'>;

function gitRules(last: readonly IgnorePattern[]): PathRules {
  const read: IgnorePattern[] = defaultExclusionPatterns.map((pattern) => ({ pattern, mark: 'by default' }));
  let matcher = ignore().add([...read, ...last]);
  return {
    enterFolder: async (folder, entries) => {
      const patterns = await readGitIgnore(folder, entries);
      if (patterns.length === 0) return;
      read.push(...patterns);
      matcher = ignore().add([...read, ...last]);
    },
    reason: (path, isFolder) => {
      if (isAlwaysExcluded(baseName(path))) return 'always';
      const result = matcher.test(isFolder ? `${path}/` : path);
      return result.ignored ? (result.rule?.mark ?? null) : null;
    },
    canPruneFolders: true,
  };
}

function dockerRules(docker: DockerIgnore, last: readonly IgnorePattern[]): PathRules {
  const matcher = ignore().add(last);
  return {
    enterFolder: async () => {},
    reason: (path, isFolder) => {
      if (isAlwaysExcluded(baseName(path))) return 'always';
      const result = matcher.test(isFolder ? `${path}/` : path);
      if (result.ignored) return result.rule?.mark ?? null;
      return docker.excludes(path) && !result.unignored ? '.dockerignore' : null;
    },
    canPruneFolders: !docker.hasNegation,
  };
}

async function readDockerRules(entries: readonly FolderEntry[]): Promise<DockerIgnore | null> {
  const text = await readTextFile(entries, '.dockerignore');
  if (text === null) return null;
  try {
    return readDockerIgnore(text);
  } catch (error) {
    throw new PackingError('ignore-file-invalid', `.dockerignore: ${error instanceof Error ? error.message : error}.`);
  }
}

async function readGitIgnore(folder: string, entries: readonly FolderEntry[]): Promise<readonly IgnorePattern[]> {
  const text = await readTextFile(entries, '.gitignore');
  const mark = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
  return (text ?? '')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ pattern: rootPattern(folder, line), mark }));
}

/** Converts a pattern from the `.gitignore` of a directory to an equivalent pattern relative to the project's root. */
function rootPattern(folder: string, line: string): string {
  if (folder === '') return line;
  const sign = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(sign.length);
  const isAnchored = pattern.trimEnd().slice(0, -1).includes('/');
  const escapedFolder = folder.replace(/[*?[\]\\ ]/g, '\\$&');
  return `${sign}/${escapedFolder}/${isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
