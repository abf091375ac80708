import { failure } from '@bothost/contract';
import { findAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../uuid.ts';
import { finishSession } from './finish.ts';
import { decideEnd } from './progress.ts';
import { stateOf } from './rows.ts';

/**
 * Decides that a session ends (`SESSION_STOPPED`); its instance is stopped by the reconciler. One whose client never came
 * ends here. Stopping twice is the same as once; a session that has ended is not there to be stopped (404, which existing
 * clients take for success).
 *
 * @throws failure `not-found`
 */
export async function stopSession(
  context: { db: Database; now: () => Date },
  scope: { organizationId: string },
  agentName: string,
  sessionId: string,
): Promise<void> {
  const agentId = await findAgentId(context.db, scope.organizationId, agentName);
  const state = isUuid(sessionId) ? await stateOf(context.db, agentId, sessionId) : undefined;
  if (state === undefined || state === 'ended') throw failure('not-found');
  if (await decideEnd(context, sessionId, 'SESSION_STOPPED')) return;
  // One whose client never came has nothing to stop. If it comes just now, its instance ends with the session.
  if (state === 'waiting') await finishSession(context, sessionId, 'SESSION_STOPPED', context.now(), []);
}
