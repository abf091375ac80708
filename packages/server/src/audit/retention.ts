import type { Database } from '../store/tables.ts';
import { eventsAfter, lockLog, organizationsWithOldEvents, removeThrough } from './rows.ts';

/** Removed in one transaction; more go in the next, so that no writer waits for long. */
const batch = 1_000;
const dayMilliseconds = 86_400_000;

/**
 * Removes the entries of all logs that are older than `days`; 0 keeps them. They go from the oldest on and in one transaction
 * with the hash that the log goes on from: whenever the process is killed, what is left can be verified. Returns how many went.
 */
export async function purgeAudit(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(context.now().getTime() - days * dayMilliseconds);
  let total = 0;
  for (const organizationId of await organizationsWithOldEvents(context.db, before)) {
    for (let removed = batch; removed === batch; total += removed) {
      removed = await context.db.transaction().execute((db) => removeOldest(db, organizationId, before));
    }
  }
  return total;
}

async function removeOldest(db: Database, organizationId: string, before: Date): Promise<number> {
  await lockLog(db, organizationId);
  const oldest = await eventsAfter(db, organizationId, 0, batch);
  // Times need not rise with the sequence: the first that stays keeps all after it.
  const staying = oldest.findIndex(({ at }) => at >= before);
  const going = staying === -1 ? oldest : oldest.slice(0, staying);
  const last = going.at(-1);
  if (last !== undefined) await removeThrough(db, last);
  return going.length;
}
