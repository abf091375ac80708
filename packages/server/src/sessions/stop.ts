import { createApiError } from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { finishSession } from './finish.ts';
import { recordEndCause } from './progress.ts';
import { type EndedSessionRow, readSessionState } from './rows.ts';

/**
 * Marks a session to end with `SESSION_STOPPED`; the reconciler then stops its instance. A session that still waits for
 * its client ends at once, and is returned as `ended`. Stopping a session again before it has ended changes nothing. A session
 * that has ended is reported as `not-found`, which existing clients treat as success.
 *
 * @throws failure `not-found`
 */
export async function stopSession(
  context: { db: Database; now: () => Date },
  scope: Actor & { readonly organizationId: string },
  agentName: string,
  sessionId: string,
): Promise<{ readonly ended: EndedSessionRow | null }> {
  return context.db.transaction().execute(async (db) => {
    const inside = { ...context, db };
    const agentId = await requireAgentId(db, scope.organizationId, agentName);
    const state = isUuid(sessionId) ? await readSessionState(db, agentId, sessionId) : undefined;
    if (state === undefined || state === 'ended') throw createApiError('not-found');
    const marked = await recordEndCause(inside, sessionId, 'SESSION_STOPPED');
    // A session that still waits for its client has no instance to stop, so it is ended here. If the client connects at the same
    // time, the instance that it claims is stopped too.
    const isWaiting = !marked && state === 'waiting';
    const ended = isWaiting ? await finishSession(inside, sessionId, 'SESSION_STOPPED', context.now(), []) : undefined;
    await appendAudit(db, scope.organizationId, {
      ...organizationEventFields,
      action: 'sessions.stop',
      object: sessionId.toLowerCase(),
      keys: [agentName],
      actor: scope,
      at: context.now(),
      result: marked || ended !== undefined ? 'done' : 'unchanged',
    });
    return { ended: ended ?? null };
  });
}
