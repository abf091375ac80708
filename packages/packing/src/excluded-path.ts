import type { FolderEntry } from './folder.ts';

export type ExcludedPath = {
  readonly path: string;
  /** Why the path is excluded: `always`, `by default`, or the name of an ignore file. */
  readonly reason: string;
  readonly files: number;
  readonly bytes: number;
  /** False if `files` and `bytes` are incomplete, because counting stopped at a limit. */
  readonly isWhole: boolean;
};

/** Counts the files at and below an entry. Stops when the budget, a number of directory entries, is used up. */
export async function countExcludedFiles(
  path: string,
  entry: FolderEntry,
  reason: string,
  budget: { entries: number },
): Promise<ExcludedPath> {
  const sum = { files: 0, bytes: 0, isWhole: true };
  await count(entry, sum, budget);
  return { path, reason, ...sum };
}

/** Counts unreadable files as 0 bytes and unreadable directories as empty, because nothing of them is packed. */
async function count(
  entry: FolderEntry,
  sum: { files: number; bytes: number; isWhole: boolean },
  budget: { entries: number },
): Promise<void> {
  if (budget.entries <= 0) {
    sum.isWhole = false;
    return;
  }
  budget.entries -= 1;
  if (entry.kind !== 'folder') {
    sum.files += 1;
    const bytes = entry.kind === 'file' ? await entry.size().catch(() => 0) : 0;
    sum.bytes += bytes;
    return;
  }
  const entries = await entry.list().catch(() => []);
  await Promise.all(entries.map((one) => count(one, sum, budget)));
}
