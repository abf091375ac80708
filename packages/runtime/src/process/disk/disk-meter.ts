import { statSync } from 'node:fs';
import type { TableSource } from '../containment/containment.ts';
import { measureDeletedFiles } from './deleted-files.ts';
import { measureTrees } from './tree-sizes.ts';

/** Then a tree is measured on its own, so that it does not delay the others. Most trees take milliseconds. */
const STALL_MS = 500;
/** Then a tree counts as uncountable. `du` counts some hundred thousand files a second. */
const GIVE_UP_MS = 60_000;

/** What the meter needs to know of an instance or build. */
export type Measurable = {
  readonly id: string;
  /** Absolute. What several of them contain counts once. */
  readonly directories: () => readonly string[];
  readonly pids: (table: TableSource) => readonly number[];
};

/** `bytes`: null if not known yet. `isUncountable`: the last measurement was given up. */
export type Measurement = { readonly bytes: number | null; readonly isUncountable: boolean };

export type DiskMeter = {
  /** Sizes of all. Of a tree that takes long, the size at its last measurement, which continues in the background. */
  readonly measure: (all: readonly Measurable[], table: TableSource) => Promise<ReadonlyMap<string, Measurement>>;
};

/** Measures instances and builds. A wide or deep tree of one does not delay the measurement of the others. */
export function createDiskMeter(dataDirectory: string, signal: AbortSignal): DiskMeter {
  const device = statSync(dataDirectory).dev;
  const known = new Map<string, number>();
  const slow = new Set<string>();
  const uncountable = new Set<string>();
  let background: Promise<void> | null = null;

  const treeOf = ({ id, directories }: Measurable) => ({ id, paths: directories() });

  /** One tree at a time. A tree that is fast again returns to the others. */
  const measureSlowly = async (all: readonly Measurable[]): Promise<void> => {
    for (const one of all.filter(({ id }) => slow.has(id))) {
      const begunAt = performance.now();
      const options = { stallMs: GIVE_UP_MS, isBackground: true, signal };
      const bytes = (await measureTrees([treeOf(one)], options)).get(one.id);
      if (signal.aborted) return;
      if (bytes === undefined) {
        uncountable.add(one.id);
        continue;
      }
      known.set(one.id, bytes);
      uncountable.delete(one.id);
      if (performance.now() - begunAt < STALL_MS / 2) slow.delete(one.id);
    }
  };

  return {
    measure: async (all, table) => {
      const ids = new Set(all.map(({ id }) => id));
      for (const each of [known, slow, uncountable]) for (const id of each.keys()) if (!ids.has(id)) each.delete(id);
      const fast = all.filter(({ id }) => !slow.has(id));
      const processes = all.map(({ id, pids }) => ({ id, pids: pids(table) }));
      const [sizes, deleted] = await Promise.all([
        measureTrees(fast.map(treeOf), { stallMs: STALL_MS, signal }),
        measureDeletedFiles(processes, device, signal),
      ]);
      for (const { id } of fast) {
        const bytes = sizes.get(id);
        if (bytes === undefined) slow.add(id);
        else known.set(id, bytes);
      }
      if (background === null) {
        background = measureSlowly(all).finally(() => {
          background = null;
        });
      }
      return new Map(
        all.map(({ id }) => {
          const bytes = known.get(id);
          const total = bytes === undefined ? null : bytes + (deleted.get(id) ?? 0);
          return [id, { bytes: total, isUncountable: uncountable.has(id) }];
        }),
      );
    },
  };
}
