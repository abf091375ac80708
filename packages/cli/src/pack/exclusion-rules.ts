import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import ignore from 'ignore';
import { Failure } from '../failure.ts';
import { defaultPatterns, isAlwaysExcluded } from './default-exclusions.ts';
import { type DockerIgnore, readDockerIgnore } from './docker-ignore.ts';

export type ExclusionRules = {
  /** Must be called for a directory (`''` is the root) before `reason` is called for its entries. */
  readonly enterFolder: (folder: string) => Promise<void>;
  /** Returns why a path is excluded, or null. Paths are relative to the project, with `/`. */
  readonly reason: (path: string, isFolder: boolean) => string | null;
  /** True if no pattern can include a file in an excluded directory, so the directory can be skipped. */
  readonly canPruneFolders: boolean;
};

/**
 * Reads `.dockerignore` or, if there is none, the default patterns and every `.gitignore`. The patterns in `[build.exclude]`,
 * in the syntax of `.gitignore`, come last.
 */
export async function readExclusionRules(root: string, excluded: readonly string[]): Promise<ExclusionRules> {
  const last = excluded.map((pattern) => ({ pattern, mark: '[build.exclude] of the deploy file' }));
  const docker = await readDockerRules(root);
  return docker === null ? gitRules(root, last) : dockerRules(docker, last);
}

type IgnorePattern = { readonly pattern: string; readonly mark: string };

function gitRules(root: string, last: readonly IgnorePattern[]): ExclusionRules {
  const read: IgnorePattern[] = defaultPatterns.map((pattern) => ({ pattern, mark: 'by default' }));
  let matcher = ignore().add([...read, ...last]);
  return {
    enterFolder: async (folder) => {
      const patterns = await readGitIgnore(root, folder);
      if (patterns.length === 0) return;
      read.push(...patterns);
      matcher = ignore().add([...read, ...last]);
    },
    reason: (path, isFolder) => {
      if (isAlwaysExcluded(basename(path))) return 'always';
      const result = matcher.test(isFolder ? `${path}/` : path);
      return result.ignored ? (result.rule?.mark ?? null) : null;
    },
    canPruneFolders: true,
  };
}

function dockerRules(docker: DockerIgnore, last: readonly IgnorePattern[]): ExclusionRules {
  const matcher = ignore().add(last);
  return {
    enterFolder: async () => {},
    reason: (path, isFolder) => {
      if (isAlwaysExcluded(basename(path))) return 'always';
      const result = matcher.test(isFolder ? `${path}/` : path);
      if (result.ignored) return result.rule?.mark ?? null;
      return docker.excludes(path) && !result.unignored ? '.dockerignore' : null;
    },
    canPruneFolders: !docker.hasNegation,
  };
}

async function readDockerRules(root: string): Promise<DockerIgnore | null> {
  const text = await readText(join(root, '.dockerignore'));
  if (text === null) return null;
  try {
    return readDockerIgnore(text);
  } catch (error) {
    throw new Failure('ignore-file-invalid', `.dockerignore: ${error instanceof Error ? error.message : error}.`);
  }
}

async function readGitIgnore(root: string, folder: string): Promise<readonly IgnorePattern[]> {
  const text = await readText(join(root, folder, '.gitignore'));
  const mark = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
  return (text ?? '')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ pattern: rootPattern(folder, line), mark }));
}

/** Converts a pattern in a directory's `.gitignore` to the same pattern for the root. */
function rootPattern(folder: string, line: string): string {
  if (folder === '') return line;
  const sign = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(sign.length);
  const isAnchored = pattern.trimEnd().slice(0, -1).includes('/');
  const escapedFolder = folder.replace(/[*?[\]\\ ]/g, '\\$&');
  return `${sign}/${escapedFolder}/${isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`;
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'EISDIR') return null;
    throw new Failure('file-unreadable', `Cannot read ${file}${code === null ? '' : ` (${code})`}.`);
  }
}
