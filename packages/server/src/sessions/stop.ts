import { createApiError } from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { finishSession } from './finish.ts';
import { recordEndCause } from './progress.ts';
import { readSessionState } from './rows.ts';

/**
 * Marks a session to end with `SESSION_STOPPED`; the reconciler then stops its instance. A session that still waits for
 * its client ends at once, and `ended` is true. Stopping a session again before it has ended changes nothing. A session
 * that has ended is reported as `not-found`, which existing clients treat as success.
 *
 * @throws failure `not-found`
 */
export async function stopSession(
  context: { db: Database; now: () => Date },
  scope: { organizationId: string },
  agentName: string,
  sessionId: string,
): Promise<{ readonly ended: boolean }> {
  const agentId = await requireAgentId(context.db, scope.organizationId, agentName);
  const state = isUuid(sessionId) ? await readSessionState(context.db, agentId, sessionId) : undefined;
  if (state === undefined || state === 'ended') throw createApiError('not-found');
  if (await recordEndCause(context, sessionId, 'SESSION_STOPPED')) return { ended: false };
  // A session that still waits for its client has no instance to stop, so it is ended here. If the client connects at the same
  // time, the instance that it claims is stopped too.
  if (state !== 'waiting') return { ended: false };
  return { ended: (await finishSession(context, sessionId, 'SESSION_STOPPED', context.now(), [])) !== undefined };
}
