import { chownSync, mkdirSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstanceSpec } from '../runtime.ts';
import { releaseUid, reserveUid } from './accounts.ts';
import { cgroupsFor, createCgroups, enterCgroups, limitCgroupCpu, removeCgroups } from './cgroup.ts';
import { botEnvironment } from './environment.ts';
import { type InstanceFiles, type InstanceRecord, readRecord, writeRecord } from './instance-record.ts';
import { type Isolation, makePassable } from './isolation.ts';
import { startKeeper } from './keeper.ts';
import { readProcessStat } from './process-identity.ts';
import type { Project } from './project.ts';

/** Bounds what a fork bomb can do; threads count, of which a Node process has about a dozen. */
const PROCESS_LIMIT = 1024;
/** While it starts, before its profile's limit holds. */
const STARTING_MILLICORES = 1000;

export type LaunchOptions = {
  readonly files: InstanceFiles;
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly projectsDirectory: string;
  readonly reservationsDirectory: string;
  readonly isolation: Isolation;
  readonly interpreter: string;
  readonly port: number;
  readonly bootId: string;
  readonly now: Date;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
};

/** A bot that is about to run: it does when `go` is called, and never when this process dies before. */
export type Launched = {
  readonly record: InstanceRecord;
  readonly keeper: NonNullable<InstanceRecord['keeper']>;
  readonly child: Awaited<ReturnType<typeof startKeeper>>['child'];
  readonly go: () => void;
};

/**
 * Everything up to the moment before the bot's first instruction. Each step leaves a state that `removeInstance` cleans:
 * directory, account, record, groups, keeper, record with keeper. Rejects when one fails, with nothing left.
 */
export async function launch(options: LaunchOptions): Promise<Launched> {
  const { files, spec, isolation } = options;
  const { instanceId, deploymentId, limits } = spec;
  await removeInstance(files, options.reservationsDirectory);
  makePassable(files.directory);
  let uid: number | null = null;
  try {
    if (isolation.ownAccounts) uid = await reserveUid(options.reservationsDirectory, files.directory);
    const account = uid === null ? null : { uid, gid: options.project.gid ?? uid };
    mkdirSync(files.home, { mode: 0o700 });
    if (account !== null) chownSync(files.home, account.uid, account.gid);
    const record: InstanceRecord = {
      version: 1,
      instanceId,
      deploymentId,
      createdAt: options.now.toISOString(),
      bootId: options.bootId,
      port: options.port,
      limits: { cpuMillicores: limits.cpuMillicores, memoryBytes: limits.memoryBytes },
      containment: isolation.containment,
      account,
      cgroups: isolation.cgroups === null ? null : cgroupsFor(isolation.cgroups, instanceId),
      keeper: null,
      address: null,
    };
    writeRecord(files, record);
    if (record.cgroups !== null) {
      createCgroups(record.cgroups, limits, PROCESS_LIMIT);
      limitCgroupCpu(record.cgroups, Math.max(STARTING_MILLICORES, limits.cpuMillicores));
    }
    const directory = join(options.projectsDirectory, options.project.project);
    const { pid, child, go } = await startKeeper({
      command: [options.interpreter, join(directory, options.project.main)],
      directory,
      environment: botEnvironment({
        instanceId,
        port: options.port,
        home: files.home,
        interpreter: options.interpreter,
        path: options.path,
        language: options.language,
        timeZone: options.timeZone,
        variables: spec.environment,
      }),
      account,
      exitPath: files.exit,
      outputPath: files.output,
      processLimit: isolation.containment === 'uid' ? PROCESS_LIMIT : 0,
    });
    try {
      const startTicks = readProcessStat(pid)?.startTicks;
      if (startTicks === undefined) throw new Error('its keeper ended at once');
      if (record.cgroups !== null) await enterCgroups(record.cgroups, pid);
      const complete = { ...record, keeper: { pid, startTicks } };
      writeRecord(files, complete);
      return { record: complete, keeper: complete.keeper, child, go };
    } catch (error) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      throw error;
    }
  } catch (error) {
    await removeInstance(files, options.reservationsDirectory);
    if (uid !== null) releaseUid(options.reservationsDirectory, uid, files.directory);
    throw error;
  }
}

/** Removes all traces of an instance of which nothing runs: groups, then files, then its account. Idempotent. */
export async function removeInstance(files: InstanceFiles, reservationsDirectory: string): Promise<void> {
  const record = readRecord(files);
  if (record?.cgroups != null) removeCgroups(record.cgroups);
  await removeTree(files.directory);
  // Last: until the files are gone, nobody else may have the account that owns them.
  if (record?.account != null) releaseUid(reservationsDirectory, record.account.uid, files.directory);
}

/** Also what a bot of the same account made unreadable. */
async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await unlock(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function unlock(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(join(directory, entry.name));
  }
}
