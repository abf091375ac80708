import type { ChildProcess } from 'node:child_process';
import type { ResourceLimits } from '../../runtime.ts';
import { cgroupsFor, createCgroups, enterCgroups, limitCgroupCpu } from '../containment/cgroup.ts';
import type { Isolation } from '../containment/isolation.ts';
import { readProcessStat } from '../proc/process-identity.ts';
import { startSupervisor } from '../supervisor/supervisor.ts';
import { type InstanceFiles, type InstanceRecord, writeRecord } from './instance-record.ts';

export type ContainedLaunchOptions = {
  readonly files: InstanceFiles;
  /** Also the name of the control groups and the value of `BOTHOST_INSTANCE`. */
  readonly instanceId: string;
  readonly deploymentId: string;
  /** The owner as `ownerOf` returns it. */
  readonly owner: string | null;
  /** The port to listen on, or 0 if the program does not listen. */
  readonly port: number;
  readonly limits: ResourceLimits;
  /** The initial CPU limit, which `limitCpu` can change. */
  readonly startingMillicores: number;
  readonly processLimit: number;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  readonly isolation: Isolation;
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly bootId: string;
  readonly now: Date;
};

/** A program that runs when `go` is called, and never if this process dies before that. */
export type LaunchedProgram = {
  readonly record: InstanceRecord;
  readonly supervisor: NonNullable<InstanceRecord['supervisor']>;
  /** The supervisor process, or null if it is not a child of this server. */
  readonly child: ChildProcess | null;
  readonly go: () => void;
};

/**
 * Prepares everything up to the program's first instruction: record, control groups, supervisor, record with
 * supervisor. `removeInstance` can clean up after each step. If it rejects, no process is running.
 */
export async function launchContained(options: ContainedLaunchOptions): Promise<LaunchedProgram> {
  const { files, isolation, account } = options;
  const record = createRecord(options);
  const { pid, child, go } = await startSupervisor({
    command: options.command,
    directory: options.directory,
    environment: options.environment,
    account,
    exitPath: files.exit,
    outputPath: files.output,
    processLimit: isolation.containment === 'uid' ? options.processLimit : 0,
  });
  try {
    const startTicks = readProcessStat(pid)?.startTicks;
    if (startTicks === undefined) throw new Error('The supervisor exited immediately.');
    if (record.cgroups !== null) await enterCgroups(record.cgroups, pid);
    const complete = { ...record, supervisor: { pid, startTicks } };
    writeRecord(files, complete);
    return { record: complete, supervisor: complete.supervisor, child, go };
  } catch (error) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    throw error;
  }
}

/** Writes a record that names no process yet, and creates the control groups of the instance. */
export function createRecord(
  options: Omit<ContainedLaunchOptions, 'command' | 'directory' | 'environment'>,
): InstanceRecord {
  const { files, isolation, limits, account } = options;
  const record: InstanceRecord = {
    version: 1,
    instanceId: options.instanceId,
    deploymentId: options.deploymentId,
    createdAt: options.now.toISOString(),
    bootId: options.bootId,
    port: options.port,
    limits: { cpuMillicores: limits.cpuMillicores, memoryBytes: limits.memoryBytes },
    containment: isolation.containment,
    account,
    cgroups: isolation.cgroups === null ? null : cgroupsFor(isolation.cgroups, options.instanceId),
    supervisor: null,
    main: null,
    address: null,
    owner: options.owner ?? undefined,
  };
  writeRecord(files, record);
  if (record.cgroups !== null) {
    createCgroups(record.cgroups, limits, options.processLimit);
    limitCgroupCpu(record.cgroups, options.startingMillicores);
  }
  return record;
}
