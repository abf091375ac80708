import { daysBefore } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteEventsBefore, listOrganizationsWithEventsBefore } from './rows.ts';

/**
 * Deletes entries older than `days` from all logs, except the newest entry of each log; 0 deletes nothing. Each log is
 * shortened in one statement, so that the log verifies even if the process is killed. Returns the number of deleted
 * entries.
 *
 * @throws if `days` is below the minimum that the trigger `audit_events_stay` enforces; then no entry is deleted
 */
export async function purgeAudit(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<number> {
  if (days === 0) return 0;
  const before = daysBefore(context.now(), days);
  let deleted = 0;
  for (const organizationId of await listOrganizationsWithEventsBefore(context.db, before)) {
    deleted += await deleteEventsBefore(context.db, organizationId, before);
  }
  return deleted;
}
