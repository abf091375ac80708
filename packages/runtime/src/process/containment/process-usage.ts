import { hasEnded, type ProcessStat } from '../proc/process-identity.ts';
import type { PageAndTickSizes } from './kernel-units.ts';

/** CPU time since the start, and resident memory or working set. */
export type ProcessUsage = { readonly cpuMicroseconds: number; readonly memoryBytes: number };

export type UsageCounter = (members: readonly ProcessStat[]) => ProcessUsage;

/**
 * Measures CPU and memory of a process tree from `/proc` alone. The kernel adds the CPU time of an ended process to the parent
 * that waited for it. If no parent waited, the last sample of that process still counts, so that the sum never decreases.
 */
export function createUsageCounter(units: PageAndTickSizes): UsageCounter {
  let previous = new Map<number, ProcessStat>();
  let lost = 0;
  let highest = 0;
  return (members) => {
    const current = new Map(members.map((stat) => [stat.pid, stat]));
    lost += countEndedProcessTicks(previous, current);
    previous = current;
    let ticks = lost;
    let pages = 0;
    for (const stat of members) {
      ticks += stat.ownTicks + stat.childTicks;
      if (!hasEnded(stat)) pages += stat.residentPages;
    }
    highest = Math.max(highest, ticks);
    return {
      cpuMicroseconds: Math.round(highest * units.microsecondsPerTick),
      memoryBytes: pages * units.pageBytes,
    };
  };
}

type Processes = ReadonlyMap<number, ProcessStat>;

/**
 * Returns the CPU ticks of processes that ended between the samples `previous` and `current`, without the ticks that `current`
 * still contains. The kernel adds the ticks of an ended process to the `childTicks` of the parent that waited for it, so
 * `current` contains these ticks if that parent still runs.
 */
export function countEndedProcessTicks(previous: Processes, current: Processes): number {
  const survives = (stat: ProcessStat) => current.get(stat.pid)?.startTicks === stat.startTicks;
  const orphaned = new Map<number, number>();
  let lost = 0;
  for (const ended of previous.values()) {
    if (survives(ended)) continue;
    const heir = nearestSurvivor(ended, previous, survives);
    const ticks = ended.ownTicks + ended.childTicks;
    if (heir === null) lost += ticks;
    else orphaned.set(heir.pid, (orphaned.get(heir.pid) ?? 0) + ticks);
  }
  for (const [pid, ticks] of orphaned) {
    const takenOver = (current.get(pid)?.childTicks ?? 0) - (previous.get(pid)?.childTicks ?? 0);
    lost += Math.max(0, ticks - takenOver);
  }
  return lost;
}

function nearestSurvivor(
  ended: ProcessStat,
  previous: Processes,
  survives: (stat: ProcessStat) => boolean,
): ProcessStat | null {
  let parent = previous.get(ended.parent);
  for (let depth = 0; parent !== undefined && depth < previous.size; depth++) {
    if (survives(parent)) return parent;
    parent = previous.get(parent.parent);
  }
  return null;
}
