import { failure } from '@bothost/contract';
import { findAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { finishSession } from './finish.ts';
import { decideEnd } from './progress.ts';
import { stateOf } from './rows.ts';

/**
 * Decides that a session ends (`SESSION_STOPPED`); its instance is stopped by the reconciler. One whose client never came
 * ends here, which the answer says. Stopping twice is the same as once; a session that has ended is not there to be stopped (404, which existing
 * clients take for success).
 *
 * @throws failure `not-found`
 */
export async function stopSession(
  context: { db: Database; now: () => Date },
  scope: { organizationId: string },
  agentName: string,
  sessionId: string,
): Promise<{ readonly ended: boolean }> {
  const agentId = await findAgentId(context.db, scope.organizationId, agentName);
  const state = isUuid(sessionId) ? await stateOf(context.db, agentId, sessionId) : undefined;
  if (state === undefined || state === 'ended') throw failure('not-found');
  if (await decideEnd(context, sessionId, 'SESSION_STOPPED')) return { ended: false };
  // One whose client never came has nothing to stop. If it comes just now, its instance ends with the session.
  if (state !== 'waiting') return { ended: false };
  return { ended: (await finishSession(context, sessionId, 'SESSION_STOPPED', context.now(), [])) !== undefined };
}
