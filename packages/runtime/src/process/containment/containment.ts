import type { Usage } from '../../runtime.ts';
import { INSTANCE_ID_VARIABLE } from '../instances/environment.ts';
import type { InstanceRecord } from '../instances/instance-record.ts';
import { hasEnded, type ProcessIdentity, readProcessStat } from '../proc/process-identity.ts';
import { type Membership, membershipByUid, membershipByVariable, type ProcessTable } from '../proc/process-table.ts';
import {
  cgroupMemoryKills,
  cgroupPids,
  forbidForks,
  type InstanceCgroups,
  killCgroup,
  limitCgroupCpu,
  openCgroupUsage,
} from './cgroup.ts';
import type { KernelUnits } from './kernel-units.ts';
import { createUsageCounter } from './process-usage.ts';

/**
 * How the processes of an instance are recognized, also after they left its session: by control group, else by the
 * instance's own account (`uid`), else by an environment variable (`mark`). Stored in the instance's record.
 */
export type ContainmentKind = 'cgroup' | 'uid' | 'mark';

/** Returns the process table, which is read on the first call and then shared by all instances. */
export type TableSource = () => ProcessTable;

export type Containment = {
  /** Pids of the running processes, including the supervisor. */
  readonly members: (table: TableSource) => readonly ProcessIdentity[];
  /** CPU and memory use, null if unknown. CPU time never decreases. */
  readonly usage: (table: TableSource) => Usage | null;
  /** Whether the kernel enforces the memory limit. If it does not, the watchdog does. */
  readonly boundsMemory: boolean;
  /** False if the machine cannot limit the CPU. */
  readonly limitCpu: (millicores: number) => boolean;
  readonly memoryKills: () => number;
  /** Prevents the instance from starting processes before they are killed, if possible. */
  readonly forbidForks: () => void;
  /** Last resort: kills all processes of the instance at once, including the supervisor, if the kernel supports it. */
  readonly killAtOnce: () => void;
  readonly close: () => void;
};

/** The fields of an instance's record that identify its processes. */
export type ContainedRecord = Pick<InstanceRecord, 'instanceId' | 'containment' | 'account' | 'cgroups'>;

/**
 * Opens the containment of an instance from its record, so that the server that started the instance and a server that
 * adopts it find the same processes.
 */
export function openContainment(record: ContainedRecord, supervisor: ProcessIdentity, units: KernelUnits): Containment {
  if (record.cgroups !== null) return containmentByCgroup(record.cgroups, units);
  const membership =
    record.containment === 'uid' && record.account !== null
      ? membershipByUid(record.account.uid)
      : membershipByVariable(`${INSTANCE_ID_VARIABLE}=${record.instanceId}`, supervisor);
  return containmentByTable(membership, units);
}

function containmentByCgroup(groups: InstanceCgroups, units: KernelUnits): Containment {
  const cgroupUsage = openCgroupUsage(groups);
  const countUsage = createUsageCounter(units);
  const stats = () => cgroupPids(groups).flatMap((pid) => readProcessStat(pid) ?? []);
  return {
    members: () => stats().filter((stat) => !hasEnded(stat)),
    usage: () => (cgroupUsage === null ? countUsage(stats()) : cgroupUsage.read()),
    boundsMemory: groups.memory !== null,
    limitCpu: (millicores) => limitCgroupCpu(groups, millicores),
    memoryKills: () => cgroupMemoryKills(groups),
    forbidForks: () => forbidForks(groups),
    killAtOnce: () => killCgroup(groups),
    close: () => cgroupUsage?.close(),
  };
}

function containmentByTable(membership: Membership, units: KernelUnits): Containment {
  const countUsage = createUsageCounter(units);
  return {
    members: (table) => membership(table()).filter((stat) => !hasEnded(stat)),
    usage: (table) => countUsage(membership(table())),
    boundsMemory: false,
    limitCpu: () => false,
    memoryKills: () => 0,
    forbidForks: () => undefined,
    killAtOnce: () => undefined,
    close: () => undefined,
  };
}
