import type { Usage } from '../../runtime.ts';
import { INSTANCE_VARIABLE } from '../instances/environment.ts';
import type { InstanceRecord } from '../instances/instance-record.ts';
import { hasEnded, type ProcessIdentity, readProcessStat } from '../proc/process-identity.ts';
import { type Membership, membershipByMark, membershipByUid, type ProcessTable } from '../proc/process-table.ts';
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
import { openUsageAccount } from './process-usage.ts';

/**
 * How an instance's processes are told from all others. An instance is the set of its processes, also of those that left
 * its session: by control group, else by an account of its own, else by a mark in the environment.
 */
export type ContainmentKind = 'cgroup' | 'uid' | 'mark';

/** Reads the process table when it is first asked for, so that many instances share one look. */
export type TableSource = () => ProcessTable;

export type Containment = {
  /** The processes that live, zombies aside, the supervisor among them. */
  readonly members: (table: TableSource) => readonly ProcessIdentity[];
  /** Null when it cannot be told. CPU never falls. */
  readonly usage: (table: TableSource) => Usage | null;
  /** Whether the kernel bounds it; otherwise sampling has to. */
  readonly boundsMemory: boolean;
  /** False where the machine cannot limit it. */
  readonly limitCpu: (millicores: number) => boolean;
  readonly memoryKills: () => number;
  /** Makes the set stop growing as far as possible, before it is killed. */
  readonly forbidForks: () => void;
  /** Kills all at once where the kernel can, the supervisor too: the last resort. */
  readonly killAtOnce: () => void;
  readonly close: () => void;
};

/**
 * The containment that an instance was started with, from its record: the same for its own server and for one that adopts
 * it.
 */
export function openContainment(record: InstanceRecord, supervisor: ProcessIdentity, units: KernelUnits): Containment {
  if (record.cgroups !== null) return containmentByCgroup(record.cgroups, units);
  const membership =
    record.containment === 'uid' && record.account !== null
      ? membershipByUid(record.account.uid)
      : membershipByMark(`${INSTANCE_VARIABLE}=${record.instanceId}`, supervisor);
  return containmentByTable(membership, units);
}

function containmentByCgroup(groups: InstanceCgroups, units: KernelUnits): Containment {
  const counted = openCgroupUsage(groups);
  const account = openUsageAccount(units);
  const stats = () => cgroupPids(groups).flatMap((pid) => readProcessStat(pid) ?? []);
  return {
    members: () => stats().filter((stat) => !hasEnded(stat)),
    usage: () => (counted === null ? account(stats()) : counted.read()),
    boundsMemory: groups.memory !== null,
    limitCpu: (millicores) => limitCgroupCpu(groups, millicores),
    memoryKills: () => cgroupMemoryKills(groups),
    forbidForks: () => forbidForks(groups),
    killAtOnce: () => killCgroup(groups),
    close: () => counted?.close(),
  };
}

function containmentByTable(membership: Membership, units: KernelUnits): Containment {
  const account = openUsageAccount(units);
  return {
    members: (table) => membership(table()).filter((stat) => !hasEnded(stat)),
    usage: (table) => account(membership(table())),
    boundsMemory: false,
    limitCpu: () => false,
    memoryKills: () => 0,
    forbidForks: () => undefined,
    killAtOnce: () => undefined,
    close: () => undefined,
  };
}
