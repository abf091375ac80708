import { existsSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { CpuPriority } from './cgroup.ts';

const increments = { session: 5, start: 5, build: 10 } as const satisfies Record<CpuPriority, number>;

const nicePath = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));

type Command = readonly [string, ...string[]];

/**
 * A command that gives `command` and all its children less CPU time than the service while the processors are busy. For
 * machines without a CPU controller. Sessions and starts have the same priority, because only root could raise it again. The
 * process lowers its own priority: without CAP_SYS_NICE, as in a Docker container, root may not do it for other accounts.
 */
export function withLowerPriority(priority: CpuPriority, command: Command): Command {
  return nicePath === undefined ? command : [nicePath, '-n', String(increments[priority]), ...command];
}

/** With autogroups, the niceness of a process counts only within its session (sched(7)), so the session needs one as well. */
export function lowerPriorityOfSession(pid: number, priority: CpuPriority): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(Math.min(19, getPriority() + increments[priority])));
  } catch {
    // The kernel has no autogroups.
  }
}
