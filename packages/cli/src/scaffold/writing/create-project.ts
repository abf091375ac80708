import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pid as ownPid } from 'node:process';
import type { ProjectFile } from '../project-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { isRunning } from './running-process.ts';

/** A staging directory, by the process that writes it. */
const stagingPrefix = '.botcli-init-';

/**
 * Creates a directory with all files, or nothing: they are written into a staging directory beside it, which is renamed.
 * The staging directory of a killed process is left to `removeOrphans`.
 *
 * @throws errors of the system: ENOTEMPTY where the directory has been created by another program in the meantime
 */
export function createProject(directory: string, files: readonly ProjectFile[], signal: AbortSignal): void {
  const parent = dirname(directory);
  const made = makeDirectories(parent);
  try {
    const staging = mkdtempSync(join(parent, `${stagingPrefix}${ownPid}-`));
    try {
      // Within it, because mkdtemp makes it readable for its owner only.
      const project = join(staging, 'project');
      for (const { path, text } of files) {
        makeDirectories(dirname(join(project, path)));
        writeFileSync(join(project, path), text);
      }
      // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honored.
      signal.throwIfAborted();
      renameSync(project, directory);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  } catch (error) {
    removeEmpty(made);
    throw error;
  }
}

/** Removes the staging directories that killed processes left beside a directory. Ignores those that cannot be removed. */
export function removeOrphans(directory: string): void {
  const parent = dirname(directory);
  try {
    for (const name of readdirSync(parent)) {
      const [, pid] = /^\.botcli-init-(\d+)-\w{6}$/.exec(name) ?? [];
      if (pid === undefined || (Number(pid) !== ownPid && isRunning(Number(pid)))) continue;
      const staging = join(parent, name);
      // In a directory for everybody, another user's could be swapped for anything while it is removed.
      if (lstatSync(staging).uid === process.getuid?.()) rmSync(staging, { recursive: true, force: true });
    }
  } catch {
    // The next run tries again.
  }
}
