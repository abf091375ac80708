import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ResourceLimits } from '../../runtime.ts';
import type { ParentCgroups } from './cgroup-host.ts';
import type { ProcessUsage } from './process-usage.ts';

/** An instance's control groups, as absolute paths: the next server process may run in another control group. */
export type InstanceCgroups = ParentCgroups;

/** Period of the CPU quota in microseconds: the kernel's maximum, so that a bot can briefly use several idle processors. */
const periodMicroseconds = 1_000_000;

/** CPU weights of an owner's sessions, starts and builds. Owners get equal shares of a busy processor. */
const cpuShares = { session: 1024, start: 128, build: 32 } as const;
export type CpuPriority = keyof typeof cpuShares;

/** Groups of one owner share a parent group, so that an owner with many bots gets no more CPU time than one with a single bot. */
export function getInstanceCgroups(host: ParentCgroups, owner: string | null, instanceId: string): InstanceCgroups {
  const groupIn = (directory: string | null) =>
    directory === null ? null : join(directory, owner ?? 'shared', instanceId);
  return {
    unified: groupIn(host.unified),
    memory: groupIn(host.memory),
    cpu: groupIn(host.cpu),
    cpuacct: groupIn(host.cpuacct),
    pids: groupIn(host.pids),
  };
}

/**
 * Creates the control groups of an instance with all limits except the CPU limit. Rejects with file system errors.
 * Asynchronous, because the kernel has one lock for all groups: while a fork bomb runs, creating a group can take seconds.
 */
export async function createCgroups(groups: InstanceCgroups, limits: ResourceLimits, processes: number): Promise<void> {
  for (const directory of directories(groups)) await mkdir(directory, { recursive: true });
  if (groups.unified !== null) {
    const controllers = (['memory', 'cpu', 'pids'] as const).filter((name) => groups[name] === groups.unified);
    const request = controllers.map((name) => `+${name}`).join(' ');
    const path = join(dirname(groups.unified), 'cgroup.subtree_control');
    // Ignore errors: some kernels lack `cgroup.subtree_control`, and the machine may lack a controller.
    await writeFile(path, request, { flag: 'r+' }).catch(() => undefined);
  }
  if (groups.memory !== null) {
    const memory = String(limits.memoryBytes);
    if (isUnified(groups, groups.memory)) {
      await writeFile(join(groups.memory, 'memory.max'), memory);
      await writeIfPresent(join(groups.memory, 'memory.swap.max'), '0');
    } else {
      await writeFile(join(groups.memory, 'memory.limit_in_bytes'), memory);
      await writeIfPresent(join(groups.memory, 'memory.memsw.limit_in_bytes'), memory);
    }
  }
  if (groups.pids !== null) await writeFile(join(groups.pids, 'pids.max'), String(processes));
}

export async function enterCgroups(groups: InstanceCgroups, pid: number): Promise<void> {
  for (const path of listCgroupProcsFiles(groups)) await writeFile(path, String(pid));
}

/** Paths of the `cgroup.procs` files. A process enters the groups when its pid is written to all of them. */
export function listCgroupProcsFiles(groups: InstanceCgroups): readonly string[] {
  return directories(groups).map((directory) => join(directory, 'cgroup.procs'));
}

/** Sets the CPU priority, and the limit of the average use over one second. Returns false without a CPU controller. */
export async function limitCgroupCpu(
  groups: InstanceCgroups,
  millicores: number,
  priority: CpuPriority,
): Promise<boolean> {
  if (groups.cpu === null) return false;
  // The kernel rejects quotas below one millisecond.
  const quota = Math.max(1000, Math.round((millicores * periodMicroseconds) / 1000));
  const shares = cpuShares[priority];
  if (isUnified(groups, groups.cpu)) {
    await writeFile(join(groups.cpu, 'cpu.max'), `${quota} ${periodMicroseconds}`);
    // The default CPU weight is 100 in cgroup version 2 and 1024 in version 1.
    await writeFile(join(groups.cpu, 'cpu.weight'), String(Math.round((shares * 100) / 1024)));
  } else {
    await writeFile(join(groups.cpu, 'cpu.shares'), String(shares));
    await writeFile(join(groups.cpu, 'cpu.cfs_period_us'), String(periodMicroseconds));
    await writeFile(join(groups.cpu, 'cpu.cfs_quota_us'), String(quota));
  }
  return true;
}

/** Pids in the groups, including zombies. Empty if the groups do not exist. */
export function listCgroupPids(groups: InstanceCgroups): readonly number[] {
  const directory = groups.unified ?? groups.pids ?? groups.memory;
  const text = directory === null ? '' : readIfPresent(join(directory, 'cgroup.procs'));
  return text.split('\n').filter(Boolean).map(Number);
}

/** Prevents the instance from forking. Otherwise, killing its processes in a loop might never end. */
export async function forbidForks(groups: InstanceCgroups): Promise<void> {
  if (groups.pids !== null) await writeIfPresent(join(groups.pids, 'pids.max'), '0');
}

/** Kills all processes in the groups at once, if the kernel supports it (cgroup version 2, Linux 5.14 or later). */
export async function killCgroup(groups: InstanceCgroups): Promise<void> {
  if (groups.unified !== null) await writeIfPresent(join(groups.unified, 'cgroup.kill'), '1');
}

/** Number of processes that the kernel killed because the instance was out of memory. */
export function countCgroupOomKills(groups: InstanceCgroups): number {
  if (groups.memory === null) return 0;
  const file = isUnified(groups, groups.memory) ? 'memory.events' : 'memory.oom_control';
  return Number(/^oom_kill (\d+)$/m.exec(readIfPresent(join(groups.memory, file)))?.[1] ?? 0);
}

/** Removes the control groups of an instance, except groups that still contain processes. */
export async function removeCgroups(groups: InstanceCgroups): Promise<void> {
  for (const directory of directories(groups)) await rmdir(directory).catch(() => undefined);
}

export type CgroupUsageReader = { readonly read: () => ProcessUsage | null; readonly close: () => void };

/**
 * Opens a reader of the CPU and memory usage of an instance. Its files stay open until `close`. Null if a controller is missing.
 * Memory is the working set, as in Kubernetes: it excludes file pages that the kernel can reclaim.
 */
export function openCgroupUsageReader(groups: InstanceCgroups): CgroupUsageReader | null {
  const { memory, unified } = groups;
  if (memory === null || (groups.cpuacct === null && unified === null)) return null;
  const isV2 = isUnified(groups, memory);
  const paths = [
    groups.cpuacct === null ? join(unified ?? '', 'cpu.stat') : join(groups.cpuacct, 'cpuacct.usage'),
    join(memory, isV2 ? 'memory.current' : 'memory.usage_in_bytes'),
    join(memory, 'memory.stat'),
  ];
  const files: number[] = [];
  try {
    for (const path of paths) files.push(openSync(path, 'r'));
  } catch {
    for (const file of files) closeSync(file);
    return null;
  }
  const [cpuFile = -1, memoryFile = -1, statFile = -1] = files;
  return {
    read: () => {
      try {
        const cpu = readAgain(cpuFile);
        const inactive = (isV2 ? /^inactive_file (\d+)/m : /^total_inactive_file (\d+)/m).exec(
          readAgain(statFile),
        )?.[1];
        return {
          cpuMicroseconds:
            groups.cpuacct === null
              ? Number(/^usage_usec (\d+)/m.exec(cpu)?.[1] ?? 0)
              : Math.floor(Number(cpu.trim()) / 1000),
          memoryBytes: Math.max(0, Number(readAgain(memoryFile).trim()) - Number(inactive ?? 0)),
        };
      } catch {
        return null;
      }
    },
    close: () => {
      for (const file of files) closeSync(file);
    },
  };
}

const buffer = Buffer.alloc(16 * 1024);

function readAgain(file: number): string {
  return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
}

function directories(groups: InstanceCgroups): readonly string[] {
  const all = [groups.unified, groups.memory, groups.cpu, groups.cpuacct, groups.pids];
  return [...new Set(all.filter((directory) => directory !== null))];
}

function isUnified(groups: InstanceCgroups, directory: string): boolean {
  return directory === groups.unified;
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Writes a control group file if it exists. Ignores errors, because the group may be removed in the meantime. */
async function writeIfPresent(path: string, text: string): Promise<void> {
  if (existsSync(path)) await writeFile(path, text).catch(() => undefined);
}
