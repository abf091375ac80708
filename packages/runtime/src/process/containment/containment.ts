import { hasEnded, type ProcessIdentity, readProcessStat } from '../proc/process-identity.ts';
import {
  createEnvironmentVariableProcessSelector,
  createUidProcessSelector,
  type ProcessSelector,
  type ProcessTableProvider,
} from '../proc/process-table.ts';
import type { InstanceRecord } from '../records/instance-record.ts';
import {
  type CpuPriority,
  countCgroupOomKills,
  forbidForks,
  type InstanceCgroups,
  killCgroup,
  limitCgroupCpu,
  listCgroupPids,
  openCgroupUsageReader,
} from './cgroup.ts';
import type { PageAndTickSizes } from './kernel-units.ts';
import { createUsageCounter, type ProcessUsage } from './process-usage.ts';

/** Environment variable with the id of an instance. Processes with the containment `mark` are recognized by it. */
export const instanceIdVariable = 'BOTHOST_INSTANCE';

export type ProcessContainment = {
  /** Returns the running processes of the instance, including a supervisor that serves only this instance. */
  readonly members: (table: ProcessTableProvider) => readonly ProcessIdentity[];
  /** CPU and memory use, null if unknown. CPU time never decreases. */
  readonly usage: (table: ProcessTableProvider) => ProcessUsage | null;
  /** Whether the kernel enforces the memory limit. If it does not, the watchdog does. */
  readonly boundsMemory: boolean;
  /** Sets the CPU limit and the CPU priority. Returns false if the machine cannot limit the CPU. */
  readonly limitCpu: (millicores: number, priority: CpuPriority) => Promise<boolean>;
  readonly memoryKills: () => number;
  readonly forbidForks: () => Promise<void>;
  /** Last resort: kills all processes of the instance at once, including the supervisor, if the kernel supports it. */
  readonly killAtOnce: () => Promise<void>;
  readonly close: () => void;
};

export type ContainmentRecord = Pick<InstanceRecord, 'instanceId' | 'containment' | 'account' | 'cgroups'>;

/**
 * Returns functions that find, limit and kill the processes of an instance, by the means that its record names: control groups,
 * account or environment variable. A server that adopts an instance of a previous server process needs only the record.
 */
export function createProcessContainment(
  record: ContainmentRecord,
  supervisor: ProcessIdentity,
  units: PageAndTickSizes,
): ProcessContainment {
  if (record.cgroups !== null) return containmentByCgroup(record.cgroups, units);
  const membership =
    record.containment === 'uid' && record.account !== null
      ? createUidProcessSelector(record.account.uid)
      : createEnvironmentVariableProcessSelector(`${instanceIdVariable}=${record.instanceId}`, supervisor);
  return containmentByTable(membership, units);
}

function containmentByCgroup(groups: InstanceCgroups, units: PageAndTickSizes): ProcessContainment {
  const cgroupUsageReader = openCgroupUsageReader(groups);
  const countUsage = createUsageCounter(units);
  let limited = Promise.resolve(false);
  const stats = () => listCgroupPids(groups).flatMap((pid) => readProcessStat(pid) ?? []);
  return {
    members: () => stats().filter((stat) => !hasEnded(stat)),
    usage: () => (cgroupUsageReader === null ? countUsage(stats()) : cgroupUsageReader.read()),
    boundsMemory: groups.memory !== null,
    // Wait for the write before, so that the limit of the latest call remains.
    limitCpu: (millicores, priority) => {
      limited = limited.catch(() => false).then(() => limitCgroupCpu(groups, millicores, priority));
      return limited;
    },
    memoryKills: () => countCgroupOomKills(groups),
    forbidForks: () => forbidForks(groups),
    killAtOnce: () => killCgroup(groups),
    close: () => cgroupUsageReader?.close(),
  };
}

function containmentByTable(membership: ProcessSelector, units: PageAndTickSizes): ProcessContainment {
  const countUsage = createUsageCounter(units);
  return {
    members: (table) => membership(table()).filter((stat) => !hasEnded(stat)),
    usage: (table) => countUsage(membership(table())),
    boundsMemory: false,
    limitCpu: async () => false,
    memoryKills: () => 0,
    forbidForks: async () => undefined,
    killAtOnce: async () => undefined,
    close: () => undefined,
  };
}
