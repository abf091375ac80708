import type { ResourceLimits } from '../../runtime.ts';
import { cgroupsFor, createCgroups, enterCgroups, limitCgroupCpu } from '../containment/cgroup.ts';
import type { Isolation } from '../containment/isolation.ts';
import { readProcessStat } from '../proc/process-identity.ts';
import { startSupervisor } from '../supervisor/supervisor.ts';
import { type InstanceFiles, type InstanceRecord, writeRecord } from './instance-record.ts';

export type ContainedLaunch = {
  readonly files: InstanceFiles;
  /** Names its control groups and marks its environment. */
  readonly instanceId: string;
  readonly deploymentId: string;
  /** 0 where it listens on none. */
  readonly port: number;
  readonly limits: ResourceLimits;
  /** Until `limitCpu` says otherwise. */
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

/** A program that is about to run: it does when `go` is called, and never when this process dies before. */
export type Launched = {
  readonly record: InstanceRecord;
  readonly keeper: NonNullable<InstanceRecord['keeper']>;
  readonly child: Awaited<ReturnType<typeof startSupervisor>>['child'];
  readonly go: () => void;
};

/**
 * Everything between a directory with its account and the moment before the program's first instruction: record, groups,
 * supervisor, record with supervisor. Each step leaves a state that `removeInstance` cleans. When it rejects, nothing runs.
 */
export async function launchContained(options: ContainedLaunch): Promise<Launched> {
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
    keeper: null,
    address: null,
  };
  writeRecord(files, record);
  if (record.cgroups !== null) {
    createCgroups(record.cgroups, limits, options.processLimit);
    limitCgroupCpu(record.cgroups, options.startingMillicores);
  }
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
    if (startTicks === undefined) throw new Error('its supervisor exited at once');
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
}
