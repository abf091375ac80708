import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { hasErrorCode } from '../error-code.ts';
import { waitForValue } from '../wait.ts';
import type { OsAccount } from './account.ts';
import { getSpawnUidAndGid, programEnvironment } from './run.ts';

/** Maximum size of the log in bytes. A larger log is truncated. */
const logLimit = 4 * 1024 * 1024;

/**
 * Returns the pid of the PostgreSQL server of a data directory, as stored in `postmaster.pid` (PostgreSQL manual, database file
 * layout). Undefined if no server runs. Pids are reused, so a process counts only if its working directory is the data directory,
 * as for every process of PostgreSQL.
 */
export async function findPostmaster(dataDirectory: string): Promise<number | undefined> {
  const pid = await readPostmasterPid(dataDirectory);
  return pid !== undefined && (await worksIn(pid, dataDirectory)) ? pid : undefined;
}

async function readPostmasterPid(dataDirectory: string): Promise<number | undefined> {
  const text = await readFile(path.join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

async function worksIn(pid: number | string, directory: string): Promise<boolean> {
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(directory));
  } catch (error) {
    // Without CAP_SYS_PTRACE, as in a container, root may not see the directory of another account's process, but its arguments.
    return hasErrorCode(error, 'EACCES') && (await readArguments(pid)).includes(directory);
  }
}

async function readArguments(pid: number | string): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
}

/**
 * Removes the lock files of a dead PostgreSQL server if its pid now belongs to another program. A new server would otherwise
 * assume that the dead server still runs. Keeps the lock files while the data directory is the working directory of any
 * process: children of a killed server may be alive, and only the lock file warns a new server of them.
 */
export async function removeStaleLocks(dataDirectory: string): Promise<void> {
  const pid = await readPostmasterPid(dataDirectory);
  if (pid === undefined || !(await isAlive(pid))) return;
  if (await hasProcessesInDirectory(dataDirectory)) return;
  await rm(path.join(dataDirectory, '.s.PGSQL.5432.lock'), { force: true });
  await rm(path.join(dataDirectory, 'postmaster.pid'), { force: true });
}

/** Whether the data directory is the working directory of any process, such as a child of a killed PostgreSQL server. */
export async function hasProcessesInDirectory(dataDirectory: string): Promise<boolean> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(processes.map((process) => worksIn(process, dataDirectory)))).includes(true);
}

async function isAlive(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')) !== '';
}

/**
 * Starts the server in a new process session, so that it outlives this process. Returns undefined when the server accepts
 * connections. If the server exits before that, or is not ready within `timeoutMs`, returns the end of the output that it wrote
 * to the log.
 */
export async function startPostmaster(options: {
  readonly postgres: string;
  readonly dataDirectory: string;
  readonly settingsFile: string;
  readonly logFile: string;
  readonly account: OsAccount;
  readonly timeoutMs: number;
}): Promise<string | undefined> {
  const log = await open(options.logFile, 'a', 0o600);
  try {
    await truncateLog(options.logFile);
    const { size } = await log.stat();
    const child = spawn(options.postgres, ['-D', options.dataDirectory, '-c', `config_file=${options.settingsFile}`], {
      ...getSpawnUidAndGid(options.account),
      cwd: '/',
      env: programEnvironment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    child.unref();
    const exited = once(child, 'exit');
    const ended = () => child.exitCode !== null || child.signalCode !== null;
    const outcome = await waitForValue({
      directory: options.dataDirectory,
      timeoutMs: options.timeoutMs,
      also: exited,
      check: async () => (ended() ? 'ended' : (await isReady(options.dataDirectory, child.pid)) ? 'ready' : undefined),
    });
    if (outcome === 'ready') return undefined;
    if (outcome === 'ended') return await readFrom(options.logFile, size);
    return `(not ready after ${options.timeoutMs / 1000} seconds)\n${await readFrom(options.logFile, size)}`;
  } finally {
    await log.close();
  }
}

/** Line 8 of postmaster.pid is "ready" once the server accepts connections. */
async function isReady(dataDirectory: string, pid: number | undefined): Promise<boolean> {
  const text = await readFile(path.join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** Truncates PostgreSQL's log if it exceeds its limit. A running database continues to append to the log. */
export async function truncateLog(logFile: string): Promise<void> {
  const log = await open(logFile, 'r+').catch(() => undefined);
  if (log === undefined) return;
  try {
    if ((await log.stat()).size > logLimit) await log.truncate(0);
  } finally {
    await log.close();
  }
}

async function readFrom(logFile: string, offset: number): Promise<string> {
  const text = await readFile(logFile).catch(() => Buffer.alloc(0));
  return text.subarray(offset).toString().slice(-4096);
}

/**
 * Stops the server of a data directory: disconnects clients and writes all data (fast shutdown). After `timeoutMs`, stops it at
 * once (immediate shutdown); the next start then recovers the data from the write-ahead log. Does nothing if no server runs.
 */
export async function stopPostmaster(dataDirectory: string, timeoutMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    const pid = await findPostmaster(dataDirectory);
    if (pid === undefined) return;
    process.kill(pid, signal);
    const check = async () => ((await worksIn(pid, dataDirectory)) ? undefined : true);
    if (await waitForValue({ directory: dataDirectory, timeoutMs, check })) return;
  }
}
