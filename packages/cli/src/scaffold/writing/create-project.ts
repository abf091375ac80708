import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pid as ownPid } from 'node:process';
import type { ProjectFile } from '../project-file.ts';
import { makeDirectories, removeEmptyDirectories } from './directories.ts';
import { isProcessRunning } from './running-process.ts';

const stagingPrefix = '.botcli-init-';

/**
 * Creates a directory with all files, or nothing. Writes the files to a staging directory in the same parent directory, then
 * renames it. If botcli is killed, the next run removes the staging directory with `removeOrphanedStagingDirectories`. @throws
 * system errors; ENOTEMPTY if another program creates the directory at the same time
 */
export function createProject(directory: string, files: readonly ProjectFile[], signal: AbortSignal): void {
  const parent = dirname(directory);
  const created = makeDirectories(parent);
  try {
    const staging = mkdtempSync(join(parent, `${stagingPrefix}${ownPid}-`));
    try {
      // Write to a subdirectory, because the directory from mkdtemp is readable only by its owner, and the project must have the
      // default mode.
      const project = join(staging, 'project');
      for (const { path, text } of files) {
        makeDirectories(dirname(join(project, path)));
        writeFileSync(join(project, path), text);
      }
      // The last check for Ctrl-C, because the rename completes the project.
      signal.throwIfAborted();
      renameSync(project, directory);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  } catch (error) {
    removeEmptyDirectories(created);
    throw error;
  }
}

/** Removes the staging directories that killed processes left next to a directory. Ignores errors. */
export function removeOrphanedStagingDirectories(directory: string): void {
  const parent = dirname(directory);
  try {
    for (const name of readdirSync(parent)) {
      const [, pid] = /^\.botcli-init-(\d+)-\w{6}$/.exec(name) ?? [];
      if (pid === undefined || (Number(pid) !== ownPid && isProcessRunning(Number(pid)))) continue;
      const staging = join(parent, name);
      // Skip directories of other users, who could replace a directory with a link while botcli removes the directory.
      if (lstatSync(staging).uid === process.getuid?.()) rmSync(staging, { recursive: true, force: true });
    }
  } catch {
    // Ignore the failed removal of an orphaned staging directory, because the next run of botcli tries it again.
  }
}
