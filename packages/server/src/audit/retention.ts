import type { Database } from '../store/tables.ts';
import { deleteEventsBefore, organizationsWithEventsBefore } from './rows.ts';

const dayMs = 86_400_000;

/**
 * Deletes entries older than `days` from all logs, except the newest entry of each; 0 keeps all. Each log is cut by one
 * statement, so it can be verified whenever the process is killed. Returns the number of deleted entries.
 *
 * @throws where `days` is below the minimum that the trigger `audit_events_stay` enforces; nothing is deleted then
 */
export async function purgeAudit(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(context.now().getTime() - days * dayMs);
  let deleted = 0;
  for (const organizationId of await organizationsWithEventsBefore(context.db, before)) {
    deleted += await deleteEventsBefore(context.db, organizationId, before);
  }
  return deleted;
}
