import type { AuditAction } from '@bothost/contract';
import { appendAuditToEach } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { listMemberships } from '../organizations/members.ts';
import type { Database } from '../store/tables.ts';

/** Audits an account change in each organization of the person, if there is one. Call this last in a transaction. */
export async function recordAccountEvent(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  userId: string,
  actor: Actor,
  event: { readonly action: AuditAction; readonly object?: string; readonly keys?: readonly string[] },
): Promise<void> {
  const ids = (await listMemberships({ db }, userId)).map(({ id }) => id);
  await appendAuditToEach(db, ids, { ...organizationEventFields, ...event, actor, at: now(), result: 'done' });
}
