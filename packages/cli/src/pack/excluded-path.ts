import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export type ExcludedPath = {
  readonly path: string;
  /** `always`, `by default`, or the name of the ignore file. */
  readonly reason: string;
  readonly files: number;
  readonly bytes: number;
  /** False if the budget ended before all files were counted. */
  readonly isWhole: boolean;
};

/** Counts the files at and below a path until the budget of directory entries is used up. */
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

/** Unreadable entries are ignored, because they are not packed. */
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
  const status = await lstat(path).catch(() => null);
  if (status === null) return;
  if (!status.isDirectory()) {
    sum.files += 1;
    sum.bytes += status.size;
    return;
  }
  const names = await readdir(path).catch(() => []);
  await Promise.all(names.map((name) => count(join(path, name), sum, budget)));
}
