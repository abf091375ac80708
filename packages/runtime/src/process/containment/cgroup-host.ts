import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getSpawnerPid } from '../../spawner.ts';
import { isReadNeverComplete, readProcFile } from '../proc/read-proc-file.ts';
import type { CgroupDirectories } from '../records/contained-processes.ts';
import { type CgroupHierarchy, findCgroupHierarchies } from './cgroup-mounts.ts';

/** The directories in which the server creates control groups of instances. Null for a controller that it cannot use. */
export type ParentCgroups = Readonly<CgroupDirectories>;

const neededControllers = ['memory', 'cpu', 'pids'] as const;
/** In cgroup version 1, a separate controller, `cpuacct`, measures CPU time. */
const v1Controllers = [...neededControllers, 'cpuacct'] as const;
const serverGroup = 'bothost-server';
/**
 * CPU weight of the server's control group: the highest one. All instances and builds together have the default, 1024. With ten times
 * the default, threads of the server waited up to 75 ms beside a fork bomb; with this weight, up to 25 ms (Linux 6.18).
 */
const serverShares = 262_144;
const retryMs = 50;

/**
 * Moves this process into a control group with a high CPU weight, so that it does not wait for its instances while processors are
 * busy. Processes that it starts later, such as the database, belong to the group, too. Does nothing if this process may not
 * create control groups, or if the CPU controller belongs to cgroup version 2.
 */
export function enterServerCgroup(): void {
  const hierarchy = ownHierarchies().find(({ controllers }) => controllers.includes('cpu'));
  if (hierarchy === undefined) return;
  const group = join(groupForChildren(hierarchy), serverGroup);
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, 'cpu.shares'), String(serverShares));
    writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
  } catch {
    // Without permission to create control groups, the server keeps its present CPU weight.
  }
}

function ownHierarchies(): readonly CgroupHierarchy[] {
  return findCgroupHierarchies(
    readProcFile('/proc/self/mountinfo', isReadNeverComplete) ?? '',
    readProcFile('/proc/self/cgroup', isReadNeverComplete) ?? '',
  );
}

/** Finds where this process can create control groups, by creating the group `name`. Null if it cannot create any. */
export async function findParentCgroups(name: string): Promise<ParentCgroups | null> {
  const hierarchies = ownHierarchies();
  const candidates: CgroupDirectories = { unified: null, memory: null, cpu: null, cpuacct: null, pids: null };
  const trials: string[] = [];
  const probe = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  probe.stdin.on('error', () => undefined);
  const ended = new Promise((resolve) => probe.once('error', resolve).once('close', resolve));
  try {
    for (const hierarchy of hierarchies) {
      const isUseful = hierarchy.version === 2 || v1Controllers.some((name) => hierarchy.controllers.includes(name));
      if (!isUseful) continue;
      const directory = join(groupForChildren(hierarchy), name);
      const trial = join(directory, `trial-${probe.pid}`);
      trials.push(trial);
      if (probe.pid === undefined || !isUsable(trial, probe.pid)) continue;
      if (hierarchy.version === 2) candidates.unified = directory;
      for (const controller of v1Controllers) {
        if (hierarchy.controllers.includes(controller)) candidates[controller] = directory;
      }
    }
  } finally {
    probe.stdin.end();
    await ended;
    for (const trial of trials) await removeGroup(trial);
  }
  if (candidates.unified !== null) {
    const enabled = enableControllers(candidates.unified);
    for (const controller of neededControllers) {
      if (enabled.includes(controller)) candidates[controller] = candidates.unified;
    }
  }
  return candidates.unified === null && candidates.memory === null && candidates.pids === null ? null : candidates;
}

/** If the server has already moved to its own control group, the groups of instances are created beside that group, not in it. */
function groupForChildren(hierarchy: CgroupHierarchy): string {
  const own = hierarchy.ownDirectory;
  return basename(own) === serverGroup ? dirname(own) : own;
}

function isUsable(trial: string, pid: number): boolean {
  try {
    mkdirSync(trial, { recursive: true });
    const before = readProcFile(`/proc/${pid}/cgroup`);
    writeFileSync(join(trial, 'cgroup.procs'), String(pid));
    return readProcFile(`/proc/${pid}/cgroup`) !== before;
  } catch {
    return false;
  }
}

/**
 * Enables the controllers for the groups in `directory`, and returns the enabled controllers. In cgroup version 2, only a group
 * without processes (or the root group) can enable controllers for its children. So this process and its helper process, which
 * starts programs, move to a child group. They move back if other processes are left in the parent group, because its
 * controllers then cannot be enabled.
 */
function enableControllers(directory: string): readonly string[] {
  const parent = dirname(directory);
  const available = words(join(parent, 'cgroup.controllers')).filter((name) =>
    neededControllers.some((controller) => controller === name),
  );
  if (available.length === 0) return [];
  const request = available.map((name) => `+${name}`).join(' ');
  if (!tryWrite(join(parent, 'cgroup.subtree_control'), request)) {
    const leaf = join(parent, serverGroup);
    mkdirSync(leaf, { recursive: true });
    const moveTo = (group: string) =>
      [process.pid, getSpawnerPid()].every((pid) => pid === null || tryWrite(join(group, 'cgroup.procs'), String(pid)));
    if (!moveTo(leaf)) return [];
    if (!tryWrite(join(parent, 'cgroup.subtree_control'), request)) {
      moveTo(parent);
      return [];
    }
  }
  tryWrite(join(directory, 'cgroup.subtree_control'), request);
  return words(join(directory, 'cgroup.subtree_control'));
}

/**
 * Removes the control groups of instances that `isKnown` does not accept. The groups of an owner's instances lie in the owner's
 * group, which is removed if no instance group is left in it. The kernel cannot remove a group that contains zombies. Returns
 * true if all groups that must be removed have been removed. Asynchronous, because the kernel has one lock for all groups:
 * while a fork bomb runs, a removal can take long.
 */
export async function removeOrphanedCgroups(
  host: ParentCgroups,
  isKnown: (instanceId: string) => boolean,
): Promise<boolean> {
  const removeUnknown = async (groups: readonly string[], remove: (group: string) => Promise<boolean>) => {
    let areAllRemoved = true;
    for (const group of groups) {
      if (!isKnown(basename(group)) && !(await remove(group))) areAllRemoved = false;
    }
    return areAllRemoved;
  };
  // Each parent directory contains one group per owner (such as an organization), and each of these groups contains the groups
  // of the owner's instances. Version 0.1 created the groups of instances directly in the parent directories.
  const removeOwner = async (directory: string) =>
    (await removeUnknown(await groupsIn(directory), removeGroup)) &&
    ((await groupsIn(directory)).length > 0 || removeGroup(directory));
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  return removeUnknown((await Promise.all(directories.map(groupsIn))).flat(), removeOwner);
}

async function groupsIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Removes control groups that `isKnown` does not accept, then empty parents. Waits at most `timeoutMs` for their processes. */
export async function removeParentCgroups(
  host: ParentCgroups,
  isKnown: (instanceId: string) => boolean,
  timeoutMs: number,
): Promise<void> {
  // Poll, because no event reports that init has reaped an orphaned process.
  for (let waited = 0; !(await removeOrphanedCgroups(host, isKnown)) && waited < timeoutMs; waited += retryMs) {
    await delay(retryMs);
  }
  for (const directory of new Set(Object.values(host))) if (directory !== null) await removeGroup(directory);
}

/** Removes a control group. Returns false if it still contains processes. */
async function removeGroup(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    return isMissing(error);
  }
}

function words(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split(/\s+/) : [];
}

function tryWrite(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}
