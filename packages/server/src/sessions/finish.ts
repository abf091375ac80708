import { isRoomTransport, type SessionCompletionStatus } from '@bothost/contract';
import { learnTransport } from '../agents/deployment-state.ts';
import { storeFinalMetrics } from '../metrics/finish.ts';
import type { Sample } from '../metrics/series.ts';
import { endSessionRoom } from '../rooms/session-room.ts';
import type { Database, SessionState } from '../store/tables.ts';
import { runInTransaction } from '../store/transaction.ts';
import { type EndedSessionRow, endSessionRow } from './rows.ts';
import { recordSessionEnd } from './session-webhooks.ts';

/**
 * Ends a session once, stores its final metrics, makes its room due for deletion, remembers the transport of a successful session,
 * and records the events for webhooks. If `only` is given, sessions in other states are not ended. Returns undefined if this call did
 * not end the session.
 */
export function finishSession(
  context: { db: Database },
  sessionId: string,
  status: SessionCompletionStatus,
  endedAt: Date,
  late: readonly Sample[],
  only?: SessionState,
): Promise<EndedSessionRow | undefined> {
  return runInTransaction(context.db, async (db) => {
    const row = await endSessionRow(db, sessionId, status, endedAt, only);
    if (row === undefined) return undefined;
    await storeFinalMetrics({ db }, sessionId, late);
    if (isRoomTransport(row.transport)) await endSessionRoom(db, sessionId, endedAt);
    await learnTransport(db, row);
    await recordSessionEnd(db, row);
    return row;
  });
}
