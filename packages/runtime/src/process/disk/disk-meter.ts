import { statSync } from 'node:fs';
import type { ProcessTableProvider } from '../proc/process-table.ts';
import { measureDeletedFiles } from './deleted-files.ts';
import { measureTrees } from './tree-sizes.ts';

/**
 * Milliseconds after which a measurement is canceled and the tree counts as slow. Slow trees are measured in the background, so
 * that they do not delay other trees. Most measurements take milliseconds.
 */
const stallMs = 500;
/** Milliseconds after which the measurement of a slow tree is canceled. `du` counts some hundred thousand files per second. */
const giveUpMs = 60_000;

export type DiskMeasurementTarget = {
  readonly id: string;
  /** Absolute paths to measure. A file below several of them counts once. */
  readonly directories: () => readonly string[];
  readonly pids: (table: ProcessTableProvider) => readonly number[];
};

/**
 * Size of a tree. `bytes` is null until the first measurement is complete. `isUncountable` is true if the last measurement
 * exceeded its time limit.
 */
export type DiskMeasurement = { readonly bytes: number | null; readonly isUncountable: boolean };

export type DiskMeter = {
  /** Measures trees. For a slow tree, returns the last known size and measures it again in the background. */
  readonly measure: (
    all: readonly DiskMeasurementTarget[],
    table: ProcessTableProvider,
  ) => Promise<ReadonlyMap<string, DiskMeasurement>>;
};

/** Measures disk use. A wide or deep tree does not delay the measurement of others. `nowMs` reads a monotonic clock. */
export function createDiskMeter(dataDirectory: string, signal: AbortSignal, nowMs: () => number): DiskMeter {
  const device = statSync(dataDirectory).dev;
  const known = new Map<string, number>();
  const slow = new Set<string>();
  const uncountable = new Set<string>();
  let background: Promise<void> | null = null;

  const treeOf = ({ id, directories }: DiskMeasurementTarget) => ({ id, paths: directories() });

  /** Measures slow trees one by one. A tree whose measurement is fast again is no longer treated as slow. */
  const measureSlowly = async (all: readonly DiskMeasurementTarget[]): Promise<void> => {
    for (const one of all.filter(({ id }) => slow.has(id))) {
      const begunAt = nowMs();
      const options = { stallMs: giveUpMs, isBackground: true, signal };
      const bytes = (await measureTrees([treeOf(one)], options)).get(one.id);
      if (signal.aborted) return;
      if (bytes === undefined) {
        uncountable.add(one.id);
        continue;
      }
      known.set(one.id, bytes);
      uncountable.delete(one.id);
      if (nowMs() - begunAt < stallMs / 2) slow.delete(one.id);
    }
  };

  return {
    measure: async (all, table) => {
      const ids = new Set(all.map(({ id }) => id));
      for (const each of [known, slow, uncountable]) for (const id of each.keys()) if (!ids.has(id)) each.delete(id);
      const fast = all.filter(({ id }) => !slow.has(id));
      const processes = all.map(({ id, pids }) => ({ id, pids: pids(table) }));
      const [sizes, deleted] = await Promise.all([
        measureTrees(fast.map(treeOf), { stallMs, signal }),
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
