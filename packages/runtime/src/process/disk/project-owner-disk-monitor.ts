import { measureTrees } from './tree-sizes.ts';

/** Maximum milliseconds between two measurements. The end of a build or the removal of a project triggers an earlier one. */
const refreshMs = 10 * 60_000;
const stallMs = 10 * 60_000;

/** Measures the disk use of owners of projects. An owner is an organization, or a project directory that the server serves. */
export type ProjectOwnerDiskMonitor = {
  /** Last measured disk use of an owner's projects, Python environments and caches in bytes. 0 before the first measurement. */
  readonly bytesOf: (owner: string) => number;
  /** Schedules a measurement. Call this when a build of the owner has ended or a project of the owner was removed. */
  readonly changed: (owner: string) => void;
  readonly refresh: (signal: AbortSignal) => void;
};

export type ProjectOwnerDiskMonitorOptions = {
  readonly owners: () => readonly string[];
  /** The directories to measure. Null while a build of the owner runs, whose own measurement includes them. */
  readonly directoriesOf: (owner: string) => readonly string[] | null;
};

export function createProjectOwnerDiskMonitor({
  owners,
  directoriesOf,
}: ProjectOwnerDiskMonitorOptions): ProjectOwnerDiskMonitor {
  const known = new Map<string, { bytes: number; dueAtMs: number }>();
  let listedAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;

  const list = () => {
    const present = new Set(owners());
    for (const owner of known.keys()) if (!present.has(owner)) known.delete(owner);
    for (const owner of present) if (!known.has(owner)) known.set(owner, { bytes: 0, dueAtMs: 0 });
    listedAtMs = performance.now();
  };

  const measure = async (owner: string, paths: readonly string[], signal: AbortSignal): Promise<void> => {
    const earlier = known.get(owner)?.bytes ?? 0;
    // Schedule the next measurement before this one starts, so that a call of `changed` during this measurement can bring the
    // next one forward.
    known.set(owner, { bytes: earlier, dueAtMs: performance.now() + refreshMs });
    const sizes = await measureTrees([{ id: owner, paths }], { stallMs, isBackground: true, signal });
    known.set(owner, { bytes: sizes.get(owner) ?? earlier, dueAtMs: known.get(owner)?.dueAtMs ?? 0 });
  };

  return {
    bytesOf: (owner) => known.get(owner)?.bytes ?? 0,
    changed: (owner) => known.set(owner, { bytes: known.get(owner)?.bytes ?? 0, dueAtMs: 0 }),
    refresh: (signal) => {
      if (running !== null) return;
      const now = performance.now();
      if (now - listedAtMs >= refreshMs) list();
      for (const [owner, { dueAtMs }] of known) {
        const paths = dueAtMs <= now ? directoriesOf(owner) : null;
        if (paths === null) continue;
        running = measure(owner, paths, signal).finally(() => {
          running = null;
        });
        return;
      }
    },
  };
}
