import { appendAudit } from '../../audit/append.ts';
import { type Actor, ofWholeOrganization } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';

/** `by` is the operator who requested the work. An operator has no API key. */
export type MaintenanceAuditContext = { readonly db: Database; readonly now: () => Date; readonly by?: Actor };

/**
 * Records in the audit log of each organization that the operator started work on its keys or secrets. Call this last in a
 * transaction, because it locks the logs; it always locks them in the same order.
 */
export async function auditOrganizations(
  { db, now, by = { keyId: null } }: MaintenanceAuditContext,
  organizationIds: Iterable<string>,
  action: string,
): Promise<void> {
  for (const id of [...new Set(organizationIds)].sort()) {
    await appendAudit(db, id, { ...ofWholeOrganization, action, result: 'started', at: now(), actor: by });
  }
}
