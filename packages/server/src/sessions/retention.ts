import { purgeInstances } from '../instances/lifecycle.ts';
import { removeOlderThan } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteEndedSessions } from './rows.ts';

/** Days for which the rows of ended instances are kept for late requests. Their history is stored with their sessions. */
const instanceDays = 1;

/** Removes sessions that ended more than `days` ago, or none if `days` is 0. Returns the number of removed sessions. */
export async function purgeSessions(context: { db: Database; now: () => Date }, days: number): Promise<number> {
  await removeOlderThan(context, instanceDays, purgeInstances);
  return removeOlderThan(context, days, deleteEndedSessions);
}
