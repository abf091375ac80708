import type { AuditAction } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import type { AgentRow } from './rows.ts';

/** Records a change of an agent in the audit log. Call this last in the transaction of the change. */
export function recordAgentEvent(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  actor: Actor & { readonly organizationId: string },
  agent: Pick<AgentRow, 'name' | 'region'>,
  event: { readonly action: AuditAction; readonly keys: readonly string[]; readonly result?: string },
): Promise<void> {
  const about = { ...organizationEventFields, object: agent.name, region: agent.region };
  return appendAudit(db, actor.organizationId, { ...about, at: now(), actor, result: 'done', ...event });
}
