import type { Usage } from '../../runtime.ts';
import { hasEnded, type ProcessStat } from '../proc/process-identity.ts';
import type { KernelUnits } from './kernel-units.ts';

/** Adds up what a changing set of processes has used since it began; called with the set again and again. */
export type UsageAccount = (members: readonly ProcessStat[]) => Usage;

/**
 * CPU and memory of a process tree from `/proc` alone. The time of a process that has ended reappears in the parent that
 * waited for it; where nobody did (it was adopted by init, or its parent ended too), what was last seen of it is kept in
 * `lost`, so that the sum never falls. What lives and dies between two looks is seen only through a parent that waits.
 */
export function openUsageAccount(units: KernelUnits): UsageAccount {
  let previous = new Map<number, ProcessStat>();
  let lost = 0;
  let highest = 0;
  return (members) => {
    const current = new Map(members.map((stat) => [stat.pid, stat]));
    lost += lostTicks(previous, current);
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

/** Ticks of processes that vanished since `previous` and that no process of `current` has taken over. Pure. */
export function lostTicks(previous: Processes, current: Processes): number {
  const survives = (stat: ProcessStat) => current.get(stat.pid)?.startTicks === stat.startTicks;
  const orphaned = new Map<number, number>();
  let lost = 0;
  for (const gone of previous.values()) {
    if (survives(gone)) continue;
    const heir = nearestSurvivor(gone, previous, survives);
    const ticks = gone.ownTicks + gone.childTicks;
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
  gone: ProcessStat,
  previous: Processes,
  survives: (stat: ProcessStat) => boolean,
): ProcessStat | null {
  let parent = previous.get(gone.parent);
  for (let depth = 0; parent !== undefined && depth < previous.size; depth++) {
    if (survives(parent)) return parent;
    parent = previous.get(parent.parent);
  }
  return null;
}
