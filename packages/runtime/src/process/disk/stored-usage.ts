import { measureTrees } from './tree-sizes.ts';

/** An owner is measured after each of its builds, and otherwise after this time, for example because of removals. */
const REFRESH_MS = 10 * 60_000;
/** Long, because an owner can have a million files that are not in the page cache. */
const STALL_MS = 10 * 60_000;

/** Disk space of projects, environments and caches that builds created. */
export type StoredUsage = {
  /** Bytes as last measured, or 0 before the first measurement. */
  readonly bytesOf: (owner: string) => number;
  /** Call it when a build of the owner has ended or one of its projects was removed. */
  readonly changed: (owner: string) => void;
  /** Starts to measure the next owner that is due, unless a measurement is running. */
  readonly refresh: (signal: AbortSignal) => void;
};

export type StoredUsageOptions = {
  readonly owners: () => readonly string[];
  /** Directories of an owner, or null while one of its builds runs, because the build counts them itself. */
  readonly directoriesOf: (owner: string) => readonly string[] | null;
};

/** Measures one owner at a time, in the background. */
export function createStoredUsage({ owners, directoriesOf }: StoredUsageOptions): StoredUsage {
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
    // Set the due time first, so that a change during the measurement makes the owner due again.
    known.set(owner, { bytes: earlier, dueAtMs: performance.now() + REFRESH_MS });
    const sizes = await measureTrees([{ id: owner, paths }], { stallMs: STALL_MS, isBackground: true, signal });
    known.set(owner, { bytes: sizes.get(owner) ?? earlier, dueAtMs: known.get(owner)?.dueAtMs ?? 0 });
  };

  return {
    bytesOf: (owner) => known.get(owner)?.bytes ?? 0,
    changed: (owner) => known.set(owner, { bytes: known.get(owner)?.bytes ?? 0, dueAtMs: 0 }),
    refresh: (signal) => {
      if (running !== null) return;
      const now = performance.now();
      if (now - listedAtMs >= REFRESH_MS) list();
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
