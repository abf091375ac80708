import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid as ownPid } from 'node:process';
import { Failure } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { isRunning } from './running-process.ts';

/** Exists while a process changes the project. Contains its process id and host name. */
const lockPath = '.botcli/change.lock';

/**
 * Locks a project until the returned function is called. Replaces the lock of a killed process. If two processes replace such a
 * lock at the same moment, both can succeed; then `applyEdits` refuses one of them.
 *
 * @throws `Failure` project-busy; errors of the system
 */
export function lockProject(directory: string): () => void {
  const path = join(directory, lockPath);
  const created = makeDirectories(join(directory, '.botcli'));
  try {
    while (!createFile(path, `${ownPid} ${hostname()}`)) {
      refuseLocked(directory);
      rmSync(path, { force: true });
    }
  } catch (error) {
    removeEmpty(created);
    throw error;
  }
  return () => {
    rmSync(path, { force: true });
    removeEmpty(created);
  };
}

/** Throws as `lockProject` would, without locking. @throws `Failure` project-busy */
export function refuseLocked(directory: string): void {
  const holder = holderOf(directory);
  if (holder === null) return;
  throw new Failure(
    'project-busy',
    `Another botcli is changing ${directory} (process ${holder}). Nothing was changed.`,
    `Wait until it has ended. If it no longer runs, remove ${join(directory, lockPath)}.`,
  );
}

/** Whether a process is changing the project. A lock from another machine or container counts. */
export function isLocked(directory: string): boolean {
  return holderOf(directory) !== null;
}

/** The process that holds the lock, for people. Null if the project is not locked, or if botcli did not write the file. */
function holderOf(directory: string): string | null {
  const [, pid = '', host = ''] = /^(\d+) (.+)$/.exec(read(join(directory, lockPath))) ?? [];
  if (pid === '') return null;
  if (host !== hostname()) return `${pid} on ${host}`;
  // In a restarted container, this process can have the process id of the killed one.
  return Number(pid) !== ownPid && isRunning(Number(pid)) ? pid : null;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
