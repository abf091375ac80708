import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CgroupHierarchy, findCgroupHierarchies } from './cgroup-mounts.ts';

/** The directories under which each instance gets a control group of its own; what is null this machine does not offer. */
export type CgroupHost = {
  /** The version 2 tree, where `cgroup.kill` and `cpu.stat` work also without controllers. */
  readonly unified: string | null;
  readonly memory: string | null;
  readonly cpu: string | null;
  readonly cpuacct: string | null;
  readonly pids: string | null;
};

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
/** Version 1 counts CPU time by a controller of its own. */
const V1_CONTROLLERS = [...CONTROLLERS, 'cpuacct'] as const;
const SERVER_GROUP = 'bothost-server';
const SWEEP_MILLISECONDS = 50;

/**
 * Makes the directory `name` in this process' own groups and tries them with a real process. Null when nothing there can
 * tell an instance's processes apart: neither version 2 nor a version 1 controller that is ours to use.
 */
export async function openCgroupHost(name: string): Promise<CgroupHost | null> {
  const hierarchies = findCgroupHierarchies(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
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
      const isWanted = hierarchy.version === 2 || V1_CONTROLLERS.some((name) => hierarchy.controllers.includes(name));
      if (!isWanted) continue;
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

/** Instances are siblings of a server that was moved into a leaf, not its children. */
function groupForChildren(hierarchy: CgroupHierarchy): string {
  const own = hierarchy.ownDirectory;
  return basename(own) === SERVER_GROUP ? dirname(own) : own;
}

/** Tries whether a group can be made and a process be put into it. */
function isUsable(trial: string, pid: number): boolean {
  try {
    mkdirSync(trial, { recursive: true });
    const before = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
    writeFileSync(join(trial, 'cgroup.procs'), String(pid));
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8') !== before;
  } catch {
    return false;
  }
}

/**
 * Version 2 gives controllers only to the children of a group that holds no processes itself, the root aside. So where
 * the server sits in the way it moves into a leaf of its own; where others sit there too, there are no controllers.
 */
function enableControllers(directory: string): readonly string[] {
  const parent = dirname(directory);
  const available = words(join(parent, 'cgroup.controllers')).filter((name) =>
    CONTROLLERS.some((wanted) => wanted === name),
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
 * Removes the groups of instances that are gone. Their own removal fails while a process that nobody has waited for yet is
 * in them, as the kernel counts it until then. True when nothing but known instances is left.
 */
export function sweepCgroups(host: CgroupHost, isKnown: (instanceId: string) => boolean): boolean {
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  const forgotten = directories.flatMap((directory) => {
    const names = existsSync(directory) ? readdirSync(directory, { withFileTypes: true }) : [];
    return names.filter((name) => name.isDirectory() && !isKnown(name.name)).map(({ name }) => join(directory, name));
  });
  return forgotten.map(removeGroup).every(Boolean);
}

/** Removes the directories of a host once nothing but known instances is left in them, or the time is up. */
export async function closeCgroupHost(
  host: CgroupHost,
  isKnown: (instanceId: string) => boolean,
  timeoutMilliseconds: number,
): Promise<void> {
  // Nobody is told when init has waited for an orphan.
  for (let waited = 0; !sweepCgroups(host, isKnown) && waited < timeoutMilliseconds; waited += SWEEP_MILLISECONDS) {
    await delay(SWEEP_MILLISECONDS);
  }
  for (const directory of new Set(Object.values(host))) if (directory !== null) removeGroup(directory);
}

/** False while processes are in it. */
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
