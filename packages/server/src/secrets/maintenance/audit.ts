import { appendAudit } from '../../audit/append.ts';
import { type Actor, ofWholeOrganization } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';

/** `by`: the operator who asked for the work, who has no API key. */
export type MaintenanceAudit = { readonly db: Database; readonly now: () => Date; readonly by?: Actor };

/**
 * Records in the audit logs of organizations that the operator started work on their keys or secrets. Call it last in a
 * transaction: it locks the logs, always in the same order.
 */
export async function auditOrganizations(
  { db, now, by = { keyId: null } }: MaintenanceAudit,
  organizationIds: Iterable<string>,
  action: string,
): Promise<void> {
  for (const id of [...new Set(organizationIds)].sort()) {
    await appendAudit(db, id, { ...ofWholeOrganization, action, result: 'started', at: now(), actor: by });
  }
}
