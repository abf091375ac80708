import { purgeInstances } from '../instances/lifecycle.ts';
import type { Database } from '../store/tables.ts';
import { deleteEndedSessions } from './rows.ts';

/** Number of rows that one statement deletes. It is limited, so that no lock is held for long. */
const batch = 1_000;
/**
 * Days for which the rows of ended instances are kept for late requests. Their history is stored with their sessions.
 */
const instanceDays = 1;
const dayMs = 86_400_000;

/** Removes sessions that ended more than `days` ago, or none if `days` is 0. Returns the number of removed sessions. */
export async function purgeSessions(context: { db: Database; now: () => Date }, days: number): Promise<number> {
  const now = context.now().getTime();
  await inBatches(() => purgeInstances(context.db, new Date(now - instanceDays * dayMs), batch));
  if (days === 0) return 0;
  return inBatches(() => deleteEndedSessions(context.db, new Date(now - days * dayMs), batch));
}

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await remove();
    total += removed;
    if (removed < batch) return total;
  }
}
