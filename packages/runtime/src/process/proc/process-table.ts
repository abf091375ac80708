import { readdirSync } from 'node:fs';
import { type ProcessIdentity, type ProcessStat, readProcessStat } from './process-identity.ts';
import { readProcFile } from './read-proc-file.ts';

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

/** Returns the process table. Only the first call reads `/proc`, so that all instances share one scan. */
export type ProcessTableProvider = () => ProcessTable;

export function createProcessTableProvider(): ProcessTableProvider {
  let table: ProcessTable | null = null;
  return () => {
    table ??= readProcessTable();
    return table;
  };
}

export type ProcessSelector = (table: ProcessTable) => readonly ProcessStat[];

/** Returns whether a process belongs to an instance. Called once per process, because the result never changes. */
type MembershipPredicate = (stat: ProcessStat, table: ProcessTable) => boolean;

export function createUidProcessSelector(uid: number): ProcessSelector {
  const needle = new RegExp(`^Uid:.*\\b${uid}\\b`, 'm');
  // Read the status file. The owner of /proc/<pid> would be cheaper to read, but a process can change it (PR_SET_DUMPABLE).
  return cachedMembership((stat) => needle.test(readProcFile(`/proc/${stat.pid}/status`) ?? ''), false);
}

/**
 * Finds the processes of an instance by an environment variable, by their parent, and by the supervisor's process session. The
 * session counts only while the supervisor runs, because its id can be reused later. A process escapes if it clears its
 * environment and leaves its session and parent between two scans. Only a separate account or a control group prevents that.
 */
export function createEnvironmentVariableProcessSelector(
  variable: string,
  supervisor: ProcessIdentity,
): ProcessSelector {
  return cachedMembership((stat, table) => {
    const isSupervisorRunning = table.get(supervisor.pid)?.startTicks === supervisor.startTicks;
    if (isSupervisorRunning && (stat.pid === supervisor.pid || stat.session === supervisor.pid)) return true;
    return (readProcFile(`/proc/${stat.pid}/environ`) ?? '').split('\0').includes(variable);
  }, true);
}

function cachedMembership(matches: MembershipPredicate, byDescent: boolean): ProcessSelector {
  const members = new Map<number, number>();
  const others = new Map<number, number>();
  return (table) => {
    for (const known of [members, others]) {
      for (const [pid, startTicks] of known) if (table.get(pid)?.startTicks !== startTicks) known.delete(pid);
    }
    for (const stat of table.values()) {
      if (members.has(stat.pid) || others.has(stat.pid)) continue;
      const isMember = (byDescent && members.has(stat.parent)) || matches(stat, table);
      (isMember ? members : others).set(stat.pid, stat.startTicks);
    }
    const found: ProcessStat[] = [];
    for (const pid of members.keys()) {
      const stat = table.get(pid);
      if (stat !== undefined) found.push(stat);
    }
    return found;
  };
}
