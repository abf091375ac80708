import { readdirSync } from 'node:fs';
import { type ProcessIdentity, type ProcessStat, readProcessStat } from './process-identity.ts';
import { readProcFile } from './read-proc-file.ts';

/** All processes of the machine at one moment, by pid. */
export type ProcessTable = ReadonlyMap<number, ProcessStat>;

export function readProcessTable(): ProcessTable {
  const table = new Map<number, ProcessStat>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readProcessStat(pid);
    if (stat !== null) table.set(pid, stat);
  }
  return table;
}

/** Picks an instance's processes out of a table, the supervisor included. */
export type Membership = (table: ProcessTable) => readonly ProcessStat[];

/** Whether a process belongs to an instance, looked up once per process: neither answer changes during its life. */
type Recognize = (stat: ProcessStat, table: ProcessTable) => boolean;

/** By user id: for an instance that has an account of its own. */
export function membershipByUid(uid: number): Membership {
  const needle = new RegExp(`^Uid:.*\\b${uid}\\b`, 'm');
  // The owner of /proc/<pid> would be cheaper, but a process can hide there (PR_SET_DUMPABLE).
  return remembering((stat) => needle.test(readProcFile(`/proc/${stat.pid}/status`) ?? ''), false);
}

/**
 * By a mark in the environment, which children inherit also past `setsid`; by descent; and by the supervisor's session while
 * the supervisor lives, as its pid, and with it the session's id, can belong to somebody else after that. What clears its
 * environment, leaves the session and its parent between two looks gets away: only an own uid or a cgroup prevents that.
 */
export function membershipByMark(mark: string, supervisor: ProcessIdentity): Membership {
  return remembering((stat, table) => {
    const isSupervisorRunning = table.get(supervisor.pid)?.startTicks === supervisor.startTicks;
    if (isSupervisorRunning && (stat.pid === supervisor.pid || stat.session === supervisor.pid)) return true;
    return (readProcFile(`/proc/${stat.pid}/environ`) ?? '').split('\0').includes(mark);
  }, true);
}

function remembering(recognize: Recognize, byDescent: boolean): Membership {
  const members = new Map<number, number>();
  const strangers = new Map<number, number>();
  return (table) => {
    for (const known of [members, strangers]) {
      for (const [pid, startTicks] of known) if (table.get(pid)?.startTicks !== startTicks) known.delete(pid);
    }
    for (const stat of table.values()) {
      if (members.has(stat.pid) || strangers.has(stat.pid)) continue;
      const found = (byDescent && members.has(stat.parent)) || recognize(stat, table);
      (found ? members : strangers).set(stat.pid, stat.startTicks);
    }
    const found: ProcessStat[] = [];
    for (const pid of members.keys()) {
      const stat = table.get(pid);
      if (stat !== undefined) found.push(stat);
    }
    return found;
  };
}
