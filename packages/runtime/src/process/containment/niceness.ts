import { existsSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { CpuPriority } from './cgroup.ts';

const increments = { session: 5, start: 5, build: 10 } as const satisfies Record<CpuPriority, number>;

const nicePath = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));

type Command = readonly [string, ...string[]];

/**
 * Returns a command that runs `command` and its children at a lower CPU priority than the service, for machines without a CPU
 * controller. The process lowers its own priority, because even root may not lower that of another account's process without
 * CAP_SYS_NICE, for example in a Docker container.
 */
export function wrapWithLowerPriority(priority: CpuPriority, command: Command): Command {
  return nicePath === undefined ? command : [nicePath, '-n', String(increments[priority]), ...command];
}

/** Lowers the CPU priority of a process session. With autogroups, niceness counts only within a session (sched(7)). */
export function lowerSessionPriority(pid: number, priority: CpuPriority): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(Math.min(19, getPriority() + increments[priority])));
  } catch {
    // Ignore the error: this kernel was built without autogroups.
  }
}
