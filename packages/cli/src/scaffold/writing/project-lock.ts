import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid as ownPid } from 'node:process';
import { Failure } from '../../failure.ts';
import { createFile } from './create-file.ts';
import { makeDirectories, removeEmpty } from './directories.ts';
import { isRunning } from './running-process.ts';

/** Exists while a process changes the project: its pid and host name. */
const lockPath = '.botcli/change.lock';

/**
 * Keeps other processes from changing a project until the returned function is called. The lock of a killed process does
 * not count. Two processes that remove such a lock within the same microseconds could both go on; `carryOut` refuses one of
 * them then.
 *
 * @throws `Failure` project-busy; errors of the system
 */
export function lockProject(directory: string): () => void {
  const path = join(directory, lockPath);
  const made = makeDirectories(join(directory, '.botcli'));
  try {
    while (!createFile(path, `${ownPid} ${hostname()}`)) {
      refuseLocked(directory);
      rmSync(path, { force: true });
    }
  } catch (error) {
    removeEmpty(made);
    throw error;
  }
  return () => {
    rmSync(path, { force: true });
    removeEmpty(made);
  };
}

/** @throws `Failure` project-busy, where `lockProject` would */
export function refuseLocked(directory: string): void {
  const holder = holderOf(directory);
  if (holder === null) return;
  throw new Failure(
    'project-busy',
    `Another botcli is changing ${directory} (process ${holder}). Nothing was changed.`,
    `Run this again when it has ended. If it is not running any more, remove ${join(directory, lockPath)}.`,
  );
}

/** Whether a process changes the project, or may be changing it from another machine or container. */
export function isLocked(directory: string): boolean {
  return holderOf(directory) !== null;
}

/** The process that holds the lock, as shown to people. Null if the project is not locked, or if botcli did not write the file. */
function holderOf(directory: string): string | null {
  const [, pid = '', host = ''] = /^(\d+) (.+)$/.exec(read(join(directory, lockPath))) ?? [];
  if (pid === '') return null;
  if (host !== hostname()) return `${pid} on ${host}`;
  // In a restarted container, this process may have the pid of the process that was killed.
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
