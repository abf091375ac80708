import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Something of a project that stays behind. */
export type ExcludedPath = {
  readonly path: string;
  /** By whose word: `always`, `by default`, or the file that says so. */
  readonly reason: string;
  readonly files: number;
  readonly bytes: number;
  /** False when counting was given up, so that there is more. */
  readonly isWhole: boolean;
};

/** Counts what is at and below a path. Each entry is taken off the budget, and counting ends with it. */
export async function measureExcluded(
  root: string,
  path: string,
  reason: string,
  budget: { entries: number },
): Promise<ExcludedPath> {
  const sum = { files: 0, bytes: 0, isWhole: true };
  await count(join(root, path), sum, budget);
  return { path, reason, ...sum };
}

/** What cannot be looked at counts as nothing: it stays behind anyway. */
async function count(
  path: string,
  sum: { files: number; bytes: number; isWhole: boolean },
  budget: { entries: number },
): Promise<void> {
  if (budget.entries <= 0) {
    sum.isWhole = false;
    return;
  }
  budget.entries -= 1;
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isDirectory()) {
    sum.files += 1;
    sum.bytes += found.size;
    return;
  }
  const names = await readdir(path).catch(() => []);
  await Promise.all(names.map((name) => count(join(path, name), sum, budget)));
}
