import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { pid as ownPid } from 'node:process';

/**
 * What a process leaves in the names of things that are there only while it lives, so that a later one can tell whether it
 * is dead: `PID-START-PLACE`. The start is in clock ticks since boot (proc_pid_stat(5), field 22), as pids come around again,
 * and 0 where that is not known. The place is a hash of the boot and of the pid namespace: elsewhere a pid says nothing.
 */
export const tracePattern = /\d{1,10}-\d{1,20}-[0-9a-f]{12}/;

export function ownTrace(): string {
  return `${ownPid}-${startOf(ownPid) ?? 0}-${placeOfPids()}`;
}

/** The process of a trace. */
export function pidOf(trace: string): number {
  return Number.parseInt(trace, 10);
}

/**
 * What became of the process of a trace. Unknown: it belongs to another container or to the time before the last boot, or
 * the system does not tell two processes of one pid apart, or it is no trace at all.
 */
export function fateOf(trace: string): 'living' | 'dead' | 'unknown' {
  if (!new RegExp(`^${tracePattern.source}$`).test(trace)) return 'unknown';
  const [, start, place] = trace.split('-');
  if (place !== placeOfPids()) return 'unknown';
  const pid = pidOf(trace);
  if (!isThere(pid)) return 'dead';
  const startNow = startOf(pid);
  if (start === '0' || startNow === null) return 'unknown';
  return start === startNow ? 'living' : 'dead';
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Null where the system does not say, or where its `/proc` counts the processes of another namespace. */
function startOf(pid: number): string | null {
  try {
    if (readlinkSync('/proc/self') !== String(ownPid)) return null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program may hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function placeOfPids(): string {
  return createHash('sha256').update(placeName()).digest('hex').slice(0, 12);
}

function placeName(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
