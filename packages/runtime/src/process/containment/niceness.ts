import { existsSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { CpuPriority } from './cgroup.ts';

const increments = { session: 5, start: 5, build: 10 } as const satisfies Record<CpuPriority, number>;

const nicePath = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));

type Command = readonly [string, ...string[]];

/**
 * Returns a command that runs `command` and its children at a lower CPU priority than the service. For machines without a CPU
 * controller. Sessions and starting instances have the same priority, because only root could raise a lowered priority again. The
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
    // Ignore the error: this kernel was built without autogroups.
  }
}
