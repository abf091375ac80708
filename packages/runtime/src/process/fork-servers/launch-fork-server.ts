import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, closeSync, mkdirSync, openSync } from 'node:fs';
import type { ResourceLimits } from '../../runtime.ts';
import { createCgroups, getInstanceCgroups, limitCgroupCpu, listCgroupProcsFiles } from '../containment/cgroup.ts';
import { createTraversableDirectory, type IsolationSettings } from '../containment/isolation.ts';
import { lowerSessionPriority, wrapWithLowerPriority } from '../containment/niceness.ts';
import { readProcessStat } from '../proc/process-identity.ts';
import {
  type ForkServerRecord,
  formatForkServerInstanceId,
  getForkServerCgroup,
  getForkServerFiles,
  writeForkServerRecord,
} from '../records/fork-server-record.ts';
import type { ImportLevel } from './import-level.ts';
import { reserveRange, uidsPerRange } from './uid-ranges.ts';

/** Python code that starts a fork server's supervisor from the host shim's directory, without the bot's environment. */
const supervisorCode =
  'import sys; sys.path.insert(0, sys.argv[1]); from bothost_shim.fork_supervisor.__main__ import main; main()';

/** CPU limit of a fork server: one core, as for a starting instance. */
const forkServerMillicores = 1000;
const processLimit = 1024;

export type ForkServerLaunchOptions = {
  readonly forkServersDirectory: string;
  readonly reservationsDirectory: string;
  readonly isolation: IsolationSettings;
  readonly bootId: string;
  readonly deploymentId: string;
  readonly owner: string | null;
  readonly level: ImportLevel;
  /** Modules to import in addition to the bot. */
  readonly modules: readonly string[];
  /** Group that may read the project. Null if all bots share the account of the service. */
  readonly gid: number | null;
  readonly limits: ResourceLimits;
  readonly interpreter: string;
  readonly shimPath: string;
  readonly command: readonly string[];
  readonly directory: string;
  /** Returns the environment variables of the fork server, given its home directory and its `BOTHOST_INSTANCE`. */
  readonly environment: (home: string, name: string) => Readonly<Record<string, string>>;
  readonly fingerprint: (salt: string) => string;
};

/**
 * Starts a fork server with its supervisor. `removeForkServer` can clean up after a failure at any step. The supervisor waits
 * for its configuration, which is sent last. If bothost is killed before that, the supervisor exits without running code of the
 * bot.
 */
export async function launchForkServer(options: ForkServerLaunchOptions): Promise<ForkServerRecord> {
  const { isolation, gid } = options;
  const id = randomBytes(6).toString('hex');
  const files = getForkServerFiles(options.forkServersDirectory, id);
  createTraversableDirectory(files.directory);
  mkdirSync(files.home, { mode: 0o700 });
  const uid = gid === null ? null : reserveRange(options.reservationsDirectory, files.directory);
  if (uid !== null && gid !== null) chownSync(files.home, uid, gid);
  const record: ForkServerRecord = {
    version: 1,
    id,
    deploymentId: options.deploymentId,
    bootId: options.bootId,
    containment: isolation.containment,
    account: uid === null || gid === null ? null : { uid, gid, count: uidsPerRange },
    cgroups:
      isolation.cgroups === null ? null : getInstanceCgroups(isolation.cgroups, options.owner, getForkServerCgroup(id)),
    salt: randomBytes(16).toString('hex'),
    supervisor: null,
  };
  writeForkServerRecord(files, record);
  if (record.cgroups !== null) {
    await createCgroups(record.cgroups, options.limits, processLimit);
    await limitCgroupCpu(record.cgroups, forkServerMillicores, 'start');
  }
  const log = openSync(files.log, 'a', 0o600);
  const supervisor = [options.interpreter, '-I', '-S', '-c', supervisorCode, options.shimPath] as const;
  const hasCpuController = record.cgroups?.cpu ?? false;
  const [program, ...parameters] = hasCpuController ? supervisor : wrapWithLowerPriority('start', supervisor);
  const child = spawn(program, parameters, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  if (child.pid === undefined) {
    const [error] = await once(child, 'error');
    throw error;
  }
  child.unref();
  child.stdin?.on('error', () => undefined);
  const startTicks = readProcessStat(child.pid)?.startTicks;
  if (startTicks === undefined) throw new Error('The supervisor of the fork server exited immediately.');
  if (!hasCpuController) lowerSessionPriority(child.pid, 'start');
  const complete = { ...record, supervisor: { pid: child.pid, startTicks } };
  writeForkServerRecord(files, complete);
  const configuration = {
    socket: files.socket,
    command: options.command,
    directory: options.directory,
    environment: options.environment(files.home, formatForkServerInstanceId(id)),
    output: files.output,
    cgroups: record.cgroups === null ? [] : listCgroupProcsFiles(record.cgroups),
    account: record.account,
    processLimit: isolation.containment === 'uid' ? processLimit : 0,
    fingerprint: options.fingerprint(record.salt),
    level: options.level,
    modules: options.modules,
  };
  child.stdin?.end(`${JSON.stringify(configuration)}\n`);
  return complete;
}

/** Gives a fork server the CPU priority of a session, because callers wait for its forks. A fork needs little CPU time. */
export async function prioritizeForkServerCpu({ cgroups }: ForkServerRecord): Promise<void> {
  if (cgroups !== null) await limitCgroupCpu(cgroups, forkServerMillicores, 'session');
}
