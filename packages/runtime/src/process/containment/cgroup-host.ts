import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readProcFile, readToEnd } from '../proc/read-proc-file.ts';
import { type CgroupHierarchy, findCgroupHierarchies } from './cgroup-mounts.ts';

/**
 * The directories in which each instance gets its control groups. A directory is null if this machine does not provide
 * it.
 */
export type CgroupHost = {
  /** The version 2 tree, where `cgroup.kill` and `cpu.stat` work even without controllers. */
  readonly unified: string | null;
  readonly memory: string | null;
  readonly cpu: string | null;
  readonly cpuacct: string | null;
  readonly pids: string | null;
};

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
/** Version 1 measures CPU time with a separate controller. */
const V1_CONTROLLERS = [...CONTROLLERS, 'cpuacct'] as const;
const SERVER_GROUP = 'bothost-server';
const RETRY_MILLISECONDS = 50;

/**
 * Creates the directory `name` in this process's own control groups and tries it out with a real process. Null if this
 * process can use neither version 2 of control groups nor a controller of version 1.
 */
export async function openCgroupHost(name: string): Promise<CgroupHost | null> {
  const hierarchies = findCgroupHierarchies(
    readProcFile('/proc/self/mountinfo', readToEnd) ?? '',
    readProcFile('/proc/self/cgroup', readToEnd) ?? '',
  );
  const candidates: { -readonly [key in keyof CgroupHost]: string | null } = {
    unified: null,
    memory: null,
    cpu: null,
    cpuacct: null,
    pids: null,
  };
  const trials: string[] = [];
  const probe = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  probe.stdin.on('error', () => undefined);
  const ended = new Promise((resolve) => probe.once('error', resolve).once('close', resolve));
  try {
    for (const hierarchy of hierarchies) {
      const isUseful = hierarchy.version === 2 || V1_CONTROLLERS.some((name) => hierarchy.controllers.includes(name));
      if (!isUseful) continue;
      const directory = join(groupForChildren(hierarchy), name);
      const trial = join(directory, `trial-${probe.pid}`);
      trials.push(trial);
      if (probe.pid === undefined || !isUsable(trial, probe.pid)) continue;
      if (hierarchy.version === 2) candidates.unified = directory;
      for (const controller of V1_CONTROLLERS) {
        if (hierarchy.controllers.includes(controller)) candidates[controller] = directory;
      }
    }
  } finally {
    probe.stdin.end();
    await ended;
    for (const trial of trials) removeGroup(trial);
  }
  if (candidates.unified !== null) {
    const enabled = enableControllers(candidates.unified);
    for (const controller of CONTROLLERS) {
      if (enabled.includes(controller)) candidates[controller] = candidates.unified;
    }
  }
  return candidates.unified === null && candidates.memory === null && candidates.pids === null ? null : candidates;
}

/**
 * The control groups of instances are siblings of the server's group if `enableControllers` moved the server into a
 * leaf group.
 */
function groupForChildren(hierarchy: CgroupHierarchy): string {
  const own = hierarchy.ownDirectory;
  return basename(own) === SERVER_GROUP ? dirname(own) : own;
}

/** Whether a group can be created and a process moved into it. */
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
 * In version 2, only a group without processes (or the root group) can enable controllers for its children. So the
 * server's process moves to a leaf group. If the group contains other processes too, no controllers are enabled.
 */
function enableControllers(directory: string): readonly string[] {
  const parent = dirname(directory);
  const available = words(join(parent, 'cgroup.controllers')).filter((name) =>
    CONTROLLERS.some((controller) => controller === name),
  );
  if (available.length === 0) return [];
  const request = available.map((name) => `+${name}`).join(' ');
  if (!tryWrite(join(parent, 'cgroup.subtree_control'), request)) {
    const leaf = join(parent, SERVER_GROUP);
    mkdirSync(leaf, { recursive: true });
    if (!tryWrite(join(leaf, 'cgroup.procs'), String(process.pid))) return [];
    if (!tryWrite(join(parent, 'cgroup.subtree_control'), request)) {
      tryWrite(join(parent, 'cgroup.procs'), String(process.pid));
      return [];
    }
  }
  tryWrite(join(directory, 'cgroup.subtree_control'), request);
  return words(join(directory, 'cgroup.subtree_control'));
}

/**
 * Removes the groups of removed instances. The kernel keeps a group until its zombies are reaped, so a group may
 * outlive its instance. True if only groups of known instances are left.
 */
export function removeOrphanedCgroups(host: CgroupHost, isKnown: (instanceId: string) => boolean): boolean {
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  const orphans = directories.flatMap((directory) => {
    const names = existsSync(directory) ? readdirSync(directory, { withFileTypes: true }) : [];
    return names.filter((name) => name.isDirectory() && !isKnown(name.name)).map(({ name }) => join(directory, name));
  });
  return orphans.map(removeGroup).every(Boolean);
}

/**
 * Removes the directories of a host once they contain only the groups of known instances, or gives up after the
 * timeout.
 */
export async function closeCgroupHost(
  host: CgroupHost,
  isKnown: (instanceId: string) => boolean,
  timeoutMilliseconds: number,
): Promise<void> {
  // Poll, because no event reports that init has reaped an orphaned process.
  for (
    let waited = 0;
    !removeOrphanedCgroups(host, isKnown) && waited < timeoutMilliseconds;
    waited += RETRY_MILLISECONDS
  ) {
    await delay(RETRY_MILLISECONDS);
  }
  for (const directory of new Set(Object.values(host))) if (directory !== null) removeGroup(directory);
}

/** False if the group still contains processes. */
export function removeGroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
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
