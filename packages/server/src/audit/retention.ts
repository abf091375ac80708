import type { Database } from '../store/tables.ts';
import { appendAudit } from './append.ts';
import { ofWholeOrganization } from './chain.ts';
import { eventsAfter, lockLog, organizationsWithOldEvents, removeThrough } from './rows.ts';

/** Removed in one transaction; more go in the next, so that no writer waits for long. */
const batch = 1_000;
const dayMilliseconds = 86_400_000;

/**
 * Removes the entries of all logs that are older than `days`, by whole days (UTC); 0 keeps them. They go from the oldest on and
 * in one transaction with the hash that the log goes on from, and with an entry that says how many they were: whenever the
 * process is killed, what is left can be verified. Returns how many went.
 *
 * @throws where `days` is less than the database wants (migration `audit-age`): nothing goes then
 */
export async function purgeAudit(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<number> {
  if (days === 0) return 0;
  // By whole days, so that each day of entries costs one entry, a year later.
  const day = Math.floor(context.now().getTime() / dayMilliseconds - days);
  const before = new Date(day * dayMilliseconds);
  let total = 0;
  for (const organizationId of await organizationsWithOldEvents(context.db, before, purged)) {
    for (let removed = batch; removed === batch; total += removed) {
      removed = await context.db
        .transaction()
        .execute((db) => removeOldest({ ...context, db }, organizationId, before));
    }
  }
  return total;
}

const purged = 'audit.purge';

async function removeOldest(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  organizationId: string,
  before: Date,
): Promise<number> {
  await lockLog(db, organizationId);
  const oldest = await eventsAfter(db, organizationId, 0, batch);
  // Times need not rise with the sequence: the first that stays keeps all after it.
  const staying = oldest.findIndex(({ at }) => at >= before);
  const going = staying === -1 ? oldest : oldest.slice(0, staying);
  const last = going.at(-1);
  if (last === undefined) return 0;
  await removeThrough(db, last);
  await appendAudit(db, organizationId, {
    ...ofWholeOrganization,
    at: now(),
    actor: { keyId: null },
    action: purged,
    result: 'done',
    count: going.length,
  });
  return going.length;
}
