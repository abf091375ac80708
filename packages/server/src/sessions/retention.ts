import { purgeInstances } from '../instances/lifecycle.ts';
import type { Database } from '../store/tables.ts';
import { deleteEndedSessions } from './rows.ts';

/** Removed in one statement; more wait for the next, so that no lock is held for long. */
const batch = 1_000;
/** What an instance did is in its session; its own row is only of use while something may still ask for it. */
const instanceDays = 1;
const dayMilliseconds = 86_400_000;

/** Removes sessions that ended longer than `days` ago, with their metrics; 0 keeps them. Returns how many went. */
export async function purgeSessions(context: { db: Database; now: () => Date }, days: number): Promise<number> {
  const now = context.now().getTime();
  await inBatches(() => purgeInstances(context.db, new Date(now - instanceDays * dayMilliseconds), batch));
  if (days === 0) return 0;
  return inBatches(() => deleteEndedSessions(context.db, new Date(now - days * dayMilliseconds), batch));
}

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await remove();
    total += removed;
    if (removed < batch) return total;
  }
}
