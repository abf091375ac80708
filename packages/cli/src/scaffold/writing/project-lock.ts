import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid as ownPid } from 'node:process';
import { Failure, getSystemErrorCode } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmptyDirectories } from './directories.ts';
import { isProcessRunning } from './running-process.ts';

/** The lock file exists while a process changes the project. It contains the process id and the host name. */
const lockPath = '.botcli/change.lock';

/**
 * Locks a project until the returned function is called. Replaces the lock of a killed process. If two processes replace such a
 * lock at the same moment, both succeed, but `applyEdits` then rejects the change of one process. @throws `Failure`
 * project-busy; system errors
 */
export function lockProjectDirectory(directory: string): () => void {
  const path = join(directory, lockPath);
  const created = makeDirectories(join(directory, '.botcli'));
  try {
    while (!createFile(path, `${ownPid} ${hostname()}`)) {
      requireUnlocked(directory);
      rmSync(path, { force: true });
    }
  } catch (error) {
    removeEmptyDirectories(created);
    throw error;
  }
  return () => {
    rmSync(path, { force: true });
    removeEmptyDirectories(created);
  };
}

/** Throws a `Failure` if another process holds the lock. */
export function requireUnlocked(directory: string): void {
  const holder = findLockHolder(directory);
  if (holder === null) return;
  throw new Failure(
    'project-busy',
    `Another botcli process (PID ${holder}) is changing ${directory}. Nothing was changed.`,
    `Wait until the other botcli process has ended. If no botcli process is running, remove ${join(directory, lockPath)}.`,
  );
}

/**
 * Returns whether a running process holds the lock. A lock of another machine or container always counts as held, because this
 * machine cannot check its process.
 */
export function isProjectLocked(directory: string): boolean {
  return findLockHolder(directory) !== null;
}

/**
 * Returns a description of the process that holds the lock. Null if there is no lock file, if its process has ended, or if
 * botcli did not write the file.
 */
function findLockHolder(directory: string): string | null {
  const [, pid = '', host = ''] = /^(\d+) (.+)$/.exec(read(join(directory, lockPath))) ?? [];
  if (pid === '') return null;
  if (host !== hostname()) return `${pid} on ${host}`;
  // In a restarted container, this process can have the same id as the killed process that wrote the lock.
  return Number(pid) !== ownPid && isProcessRunning(Number(pid)) ? pid : null;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (getSystemErrorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
