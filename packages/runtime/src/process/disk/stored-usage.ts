import { measureTrees } from './tree-sizes.ts';

/** An owner is measured after each of its builds, and at least this often, because removals also change its usage. */
const refreshMs = 10 * 60_000;
const stallMs = 10 * 60_000;

export type StoredUsage = {
  /** Bytes as last measured, or 0 before the first measurement. */
  readonly bytesOf: (owner: string) => number;
  /** Call it when a build of the owner has ended or one of its projects was removed. */
  readonly changed: (owner: string) => void;
  readonly refresh: (signal: AbortSignal) => void;
};

export type StoredUsageOptions = {
  readonly owners: () => readonly string[];
  /** Returns the directories of an owner, or null during its builds, which count these directories. */
  readonly directoriesOf: (owner: string) => readonly string[] | null;
};

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
