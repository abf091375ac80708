import { measureTrees } from './tree-sizes.ts';

/** What an owner stores changes with its builds. Otherwise it is measured again after this time, for example after removals. */
const REFRESH_MS = 10 * 60_000;
/** It can be a million files that are not cached. */
const STALL_MS = 10 * 60_000;

/** What builds left: projects, environments and caches. */
export type StoredUsage = {
  /** As last measured; 0 before. */
  readonly bytesOf: (owner: string) => number;
  /** A build of the owner ended, or a project of it was removed. */
  readonly changed: (owner: string) => void;
  /** Begins to measure the next owner that is due, if none is being measured. */
  readonly refresh: (signal: AbortSignal) => void;
};

export type StoredUsageOptions = {
  readonly owners: () => readonly string[];
  /** Directories of an owner; null while one of its builds runs, which counts them itself. */
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
    // First, so that a change during the measurement makes it due again.
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
