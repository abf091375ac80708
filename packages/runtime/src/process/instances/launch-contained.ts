import type { ConversationFiles, FileIdentity } from '../../output/conversation-files.ts';
import type { ResourceLimits } from '../../runtime.ts';
import type { StartedProgram } from '../../spawner.ts';
import { type CpuPriority, createCgroups, getInstanceCgroups, limitCgroupCpu } from '../containment/cgroup.ts';
import type { IsolationSettings } from '../containment/isolation.ts';
import type { ProcessIdentity } from '../proc/process-identity.ts';
import { type InstanceFiles, type InstanceRecord, writeInstanceRecord } from '../records/instance-record.ts';

export type ContainedLaunchOptions = {
  readonly files: InstanceFiles;
  /** The instance id is also the name of the control groups and the value of `BOTHOST_INSTANCE`. */
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly owner: string | null;
  /** The TCP port for the program, or 0 if the program gets no port. */
  readonly port: number;
  /** The path of the Unix socket for the program, or null if the program gets no socket. */
  readonly socket: string | null;
  readonly limits: ResourceLimits;
  readonly startingMillicores: number;
  readonly priority: Exclude<CpuPriority, 'session'>;
  readonly processLimit: number;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  /** The files of the program's conversation, or null if it has none. */
  readonly conversation: ConversationFiles<FileIdentity> | null;
  readonly isolation: IsolationSettings;
  readonly bootId: string;
  readonly now: Date;
};

/** A program that waits for `go`. The program never runs if this process dies before it calls `go`. */
export type LaunchedProgram = {
  readonly record: InstanceRecord;
  readonly supervisor: ProcessIdentity;
  /** The supervisor, if it was started for this program alone. Null if it is the supervisor of a fork server. */
  readonly supervisorProgram: StartedProgram | null;
  readonly go: () => void;
};

/** Creates the process in its control groups. If the function rejects, no process is running. */
export type ProcessCreator = (record: InstanceRecord, options: ContainedLaunchOptions) => Promise<CreatedProcess>;

export type CreatedProcess = Omit<LaunchedProgram, 'record'> & {
  /** The process of a forked bot. Null if the supervisor starts the bot itself. */
  readonly main: ProcessIdentity | null;
  readonly abandon: () => Promise<void> | void;
};

/**
 * Creates the record, the control groups and the process, in this order, and then adds the process to the record. If the server
 * is killed after any of these steps, `removeInstance` can clean up. The program runs only after the caller calls the returned
 * function `go`. If `launchContainedProgram` rejects, no process is running.
 */
export async function launchContainedProgram(
  options: ContainedLaunchOptions,
  createProcess: ProcessCreator,
): Promise<LaunchedProgram> {
  const record = await createRecord(options);
  const { supervisor, main, supervisorProgram, go, abandon } = await createProcess(record, options);
  try {
    const complete = { ...record, supervisor, main };
    writeInstanceRecord(options.files, complete);
    return { record: complete, supervisor, supervisorProgram, go };
  } catch (error) {
    await abandon();
    throw error;
  }
}

async function createRecord(options: ContainedLaunchOptions): Promise<InstanceRecord> {
  const { files, isolation, limits, account } = options;
  const record: InstanceRecord = {
    version: 1,
    instanceId: options.instanceId,
    deploymentId: options.deploymentId,
    createdAt: options.now.toISOString(),
    bootId: options.bootId,
    port: options.port,
    socket: options.socket,
    limits: { cpuMillicores: limits.cpuMillicores, memoryBytes: limits.memoryBytes },
    containment: isolation.containment,
    account,
    cgroups:
      isolation.cgroups === null ? null : getInstanceCgroups(isolation.cgroups, options.owner, options.instanceId),
    supervisor: null,
    main: null,
    address: null,
    owner: options.owner ?? undefined,
    conversation: options.conversation?.lines ?? null,
    recording: options.conversation?.recording ?? null,
  };
  writeInstanceRecord(files, record);
  if (record.cgroups !== null) {
    await createCgroups(record.cgroups, limits, options.processLimit);
    await limitCgroupCpu(record.cgroups, options.startingMillicores, options.priority);
  }
  return record;
}
