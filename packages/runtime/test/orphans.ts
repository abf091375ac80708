import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemUidReservationsDirectory } from '../src/process/containment/accounts.ts';
import { listReservedUids, readUidReservationOwner } from '../src/process/containment/reservations.ts';
import { getUidRangesDirectory } from '../src/process/fork-servers/uid-ranges.ts';
import { readProcFile } from '../src/process/proc/read-proc-file.ts';

/**
 * Finds what a stopped service left on the machine: processes of its database and bots, instance directories, control groups,
 * and reserved accounts.
 */
export function findOrphanedResources(directory: string, dataDirectory = join(directory, 'data')): readonly string[] {
  return [
    ...findProcessIds(directory).map((pid) => `process ${pid}: ${readCommandLine(pid)}`),
    ...listDirectory(join(dataDirectory, 'instances')).map((name) => `instance directory ${name}`),
    ...findCgroups(dataDirectory).map((path) => `control group ${path}`),
    ...findReservations(dataDirectory),
    ...(existsSync(join(dataDirectory, 'postgres/data/postmaster.pid')) ? ['postmaster.pid'] : []),
  ];
}

/**
 * Returns the pids of processes that name the directory in their arguments, environment or working directory, except the pid of
 * this process. `variable` is a part of the environment that the processes must also have.
 */
export function findProcessIds(directory: string, variable = ''): readonly number[] {
  const pids = listDirectory('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.map(Number).filter((pid) => {
    const environment = readProcFile(`/proc/${pid}/environ`) ?? '';
    const text = [readCommandLine(pid), environment, readWorkingDirectory(pid)].join('\n');
    return text.includes(directory) && environment.includes(variable);
  });
}

function findCgroups(dataDirectory: string): readonly string[] {
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  return findDirectories('/sys/fs/cgroup').filter((path) => path.endsWith(`/${name}`));
}

/** Skips directories that another service removes at the same time. */
function findDirectories(parent: string): readonly string[] {
  try {
    const entries = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.map(({ name }) => join(parent, name)).flatMap((path) => [path, ...findDirectories(path)]);
  } catch {
    return [];
  }
}

function findReservations(dataDirectory: string): readonly string[] {
  return [systemUidReservationsDirectory, getUidRangesDirectory(systemUidReservationsDirectory)].flatMap((directory) =>
    listReservedUids(directory)
      .filter((uid) => readUidReservationOwner(directory, uid)?.startsWith(`${dataDirectory}/`))
      .map((uid) => `reservation of account ${uid}`),
  );
}

function listDirectory(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

function readCommandLine(pid: number): string {
  return (readProcFile(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ');
}

function readWorkingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
