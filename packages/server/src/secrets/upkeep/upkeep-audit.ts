import { appendAudit } from '../../audit/append.ts';
import { type Actor, ofWholeOrganization } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';

/** `by`: who asked for it, and from where; without it the service itself. The operator has no key of an organization. */
export type UpkeepAudit = { readonly db: Database; readonly now: () => Date; readonly by?: Actor };

/**
 * Tells organizations in their logs what was done with their keys or what is stored under them. Call it as the last of its
 * transaction: from then on their logs are locked, always in the same order.
 */
export async function tellOrganizations(
  { db, now, by = { keyId: null } }: UpkeepAudit,
  organizationIds: Iterable<string>,
  event: { readonly action: string; readonly result: 'started' | 'done' },
): Promise<void> {
  for (const id of [...new Set(organizationIds)].sort()) {
    await appendAudit(db, id, { ...ofWholeOrganization, ...event, at: now(), actor: by });
  }
}
