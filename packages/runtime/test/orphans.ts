import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The directory where all servers on a machine reserve accounts for bots. */
const reservations = '/run/bothost-uids';

/**
 * Finds what a stopped service left on the machine: processes of its database and bots, instance directories, control groups and
 * reserved accounts.
 */
export function findOrphanedResources(directory: string): readonly string[] {
  const dataDirectory = join(directory, 'data');
  const instances = join(dataDirectory, 'instances');
  return [
    ...processesOf(directory),
    ...(existsSync(instances) ? readdirSync(instances).map((name) => `instance directory ${name}`) : []),
    ...cgroupsOf(dataDirectory),
    ...reservationsOf(dataDirectory),
    ...(existsSync(join(dataDirectory, 'postgres/data/postmaster.pid')) ? ['postmaster.pid'] : []),
  ];
}

/**
 * Returns the pids of processes that name the directory in their arguments, environment or working directory, except the pid of
 * this process.
 */
export function findProcessIds(
  directory: string,
  isWanted: (commandLine: string) => boolean = () => true,
): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    if (pid === process.pid) return false;
    const commandLine = read(`/proc/${pid}/cmdline`);
    const about = [commandLine, read(`/proc/${pid}/environ`), readLink(`/proc/${pid}/cwd`)].join('\n');
    return about.includes(directory) && isWanted(commandLine);
  });
}

function processesOf(directory: string): readonly string[] {
  return findProcessIds(directory).map(
    (pid) => `process ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`,
  );
}

function cgroupsOf(dataDirectory: string): readonly string[] {
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  if (!existsSync('/sys/fs/cgroup')) return [];
  return directoriesIn('/sys/fs/cgroup')
    .filter((path) => path.endsWith(`/${name}`))
    .map((path) => `control group ${path}`);
}

/** Skips directories that another service removes at the same time. */
function directoriesIn(parent: string): readonly string[] {
  try {
    const entries = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.map(({ name }) => join(parent, name)).flatMap((path) => [path, ...directoriesIn(path)]);
  } catch {
    return [];
  }
}

function reservationsOf(dataDirectory: string): readonly string[] {
  if (!existsSync(reservations)) return [];
  return readdirSync(reservations)
    .filter((uid) => readLink(join(reservations, uid)).startsWith(`${dataDirectory}/`))
    .map((uid) => `reservation of account ${uid}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
