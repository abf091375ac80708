import type { AuditAction } from '@bothost/contract';
import { appendAuditToEach } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { listMemberships } from '../organizations/members.ts';
import type { Database } from '../store/tables.ts';

/**
 * Records a change of an account in the audit log of each organization of the person. Call this last in a transaction. Nothing is
 * recorded for a person without an organization.
 */
export async function recordAccountEvent(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  userId: string,
  actor: Actor,
  event: { readonly action: AuditAction; readonly object?: string; readonly keys?: readonly string[] },
): Promise<void> {
  const ids = (await listMemberships({ db }, userId)).map(({ id }) => id);
  await appendAuditToEach(db, ids, { ...organizationEventFields, ...event, actor, at: now(), result: 'done' });
}
