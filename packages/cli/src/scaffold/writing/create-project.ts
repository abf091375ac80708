import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pid as ownPid } from 'node:process';
import type { ProjectFile } from '../project-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { isRunning } from './running-process.ts';

/** Prefix of staging directories; the process id follows. */
const stagingPrefix = '.botcli-init-';

/**
 * Creates a directory with all files, or nothing: writes to a staging directory beside it, then renames that. If botcli is
 * killed, `removeOrphans` of the next run removes the staging directory.
 *
 * @throws errors of the system; ENOTEMPTY if another program created the directory in the meantime
 */
export function createProject(directory: string, files: readonly ProjectFile[], signal: AbortSignal): void {
  const parent = dirname(directory);
  const created = makeDirectories(parent);
  try {
    const staging = mkdtempSync(join(parent, `${stagingPrefix}${ownPid}-`));
    try {
      // A subdirectory, because mkdtemp creates directories that only their owner can read.
      const project = join(staging, 'project');
      for (const { path, text } of files) {
        makeDirectories(dirname(join(project, path)));
        writeFileSync(join(project, path), text);
      }
      // The code above is synchronous and cannot see Ctrl-C, so this is the last check.
      signal.throwIfAborted();
      renameSync(project, directory);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  } catch (error) {
    removeEmpty(created);
    throw error;
  }
}

/** Removes the staging directories that killed processes left beside a directory. Ignores errors. */
export function removeOrphans(directory: string): void {
  const parent = dirname(directory);
  try {
    for (const name of readdirSync(parent)) {
      const [, pid] = /^\.botcli-init-(\d+)-\w{6}$/.exec(name) ?? [];
      if (pid === undefined || (Number(pid) !== ownPid && isRunning(Number(pid)))) continue;
      const staging = join(parent, name);
      // In a shared directory such as /tmp, another user could replace theirs with a link while it is removed.
      if (lstatSync(staging).uid === process.getuid?.()) rmSync(staging, { recursive: true, force: true });
    }
  } catch {
    // The next run tries again.
  }
}
