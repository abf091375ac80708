import type { Database } from './tables.ts';

const dayMs = 86_400_000;
/** Number of rows that one statement deletes. It is limited, so that no lock is held for long. */
const rowsAtOnce = 1_000;

export function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMs);
}

/** Deletes the rows that are older than `days`, or none if `days` is 0. Returns the number of deleted rows. */
export async function deleteRowsOlderThan(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  days: number,
  deleteBefore: (db: Database, before: Date, limit: number) => Promise<number>,
): Promise<number> {
  if (days === 0) return 0;
  const before = daysBefore(now(), days);
  let total = 0;
  for (;;) {
    const deleted = await deleteBefore(db, before, rowsAtOnce);
    total += deleted;
    if (deleted < rowsAtOnce) return total;
  }
}
