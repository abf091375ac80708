import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the sorted paths of the tracked files with one of these extensions, relative to the repository. */
export function listTrackedFiles(extensions: readonly string[], under = ''): readonly string[] {
  const patterns = extensions.map((extension) => `:(top,glob)${join(under, `**/*.${extension}`)}`);
  // Includes untracked files, so that a check sees new files before they are committed.
  const command = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const output = execFileSync('git', command, { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  const deleted = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: repositoryRoot, encoding: 'utf8' });
  const isDeleted = new Set(deleted.split('\0'));
  return output
    .split('\0')
    .filter((path) => path !== '' && !isDeleted.has(path))
    .sort();
}
