import type { Database } from './tables.ts';

const dayMs = 86_400_000;
/** Number of rows per statement. It is limited, so that no lock is held for long. */
const batchSize = 1_000;

export function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMs);
}

/** Removes what is older than `days`, or nothing if `days` is 0. Returns the number of removed rows. */
export async function removeOlderThan(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  days: number,
  remove: (db: Database, before: Date, limit: number) => Promise<number>,
): Promise<number> {
  if (days === 0) return 0;
  const before = daysBefore(now(), days);
  return removeInBatches((limit) => remove(db, before, limit));
}

/** Calls `remove`, which returns the number of removed rows, until it removes fewer than `limit`. Returns the sum. */
export async function removeInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await remove(batchSize);
    total += removed;
    if (removed < batchSize) return total;
  }
}
