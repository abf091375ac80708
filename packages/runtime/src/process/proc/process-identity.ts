import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readProcFile } from './read-proc-file.ts';

/**
 * Identifies a process by pid and start time, because pids are reused. The start time is field 22 of `/proc/<pid>/stat`, in clock
 * ticks since boot, and valid only together with the boot id.
 */
export const processIdentitySchema = z.object({ pid: z.int(), startTicks: z.number() });
export type ProcessIdentity = Readonly<z.infer<typeof processIdentitySchema>>;

/** Fields of `/proc/<pid>/stat` (proc_pid_stat(5)). Times in clock ticks, resident memory in pages. */
export type ProcessStat = ProcessIdentity & {
  readonly state: string;
  readonly parent: number;
  readonly session: number;
  readonly ownTicks: number;
  readonly childTicks: number;
  readonly residentPages: number;
};

export function readProcessStat(pid: number): ProcessStat | null {
  const text = readProcFile(`/proc/${pid}/stat`);
  return text === null ? null : parseProcessStat(text);
}

/** Parses `/proc/<pid>/stat`. Null if it is not a stat line. The command name may contain spaces and parentheses. */
export function parseProcessStat(text: string): ProcessStat | null {
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  const state = fields[0];
  const startTicks = field(22);
  if (!Number.isSafeInteger(pid) || state === undefined || !Number.isFinite(startTicks)) return null;
  return {
    pid,
    startTicks,
    state,
    parent: field(4),
    session: field(6),
    ownTicks: field(14) + field(15),
    childTicks: field(16) + field(17),
    residentPages: field(24),
  };
}

/** Zombies and dead processes have ended. Only their parent can reap them. */
export function hasEnded(stat: ProcessStat): boolean {
  return stat.state === 'Z' || stat.state === 'X';
}

export function isAlive(identity: ProcessIdentity): boolean {
  const stat = readProcessStat(identity.pid);
  return stat !== null && stat.startTicks === identity.startTicks && !hasEnded(stat);
}

/** Proportional set size in bytes: shared pages are divided among their processes. Null if unreadable. Slow: walks all pages. */
export function readProportionalMemoryBytes(pid: number): number | null {
  const kibibytes = /^Pss: +(\d+) kB/m.exec(readProcFile(`/proc/${pid}/smaps_rollup`) ?? '')?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** The boot id of the machine, which differs after each boot. Pids and start times of another boot are meaningless. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}
