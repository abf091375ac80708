import type { SessionCompletionStatus } from '@bothost/contract';
import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { runInTransaction } from '../store/transaction.ts';
import {
  appendEvents,
  findSessionRequestBody,
  listOpenSessionRows,
  type StartMoments,
  setDispatchTime,
  setStartMoments,
  updateSessionRow,
} from './rows.ts';
import { recordSessionStart } from './session-webhooks.ts';

/** A session that has not ended, as the reconciler observes it. */
export type OpenSessionRow = Awaited<ReturnType<typeof listOpenSessionRows>>[number];

export function listOpenSessions(db: Database, region: string): Promise<OpenSessionRow[]> {
  return listOpenSessionRows(db, region);
}

/** Records a dispatch before it is sent: after a crash, the bot may have the session. Returns the recorded time. */
export async function markDispatched(context: { db: Database; now: () => Date }, sessionId: string): Promise<Date> {
  const at = context.now();
  await setDispatchTime(context.db, sessionId, at);
  return at;
}

/** Records that the bot accepted the session. `cold`: no instance was ready. Does nothing if it was live or has ended. */
export async function markLive(
  context: { db: Database; now: () => Date },
  sessionId: string,
  took: {
    readonly at: Date;
    readonly readyAt: Date | null;
    readonly cold: boolean;
    readonly moments?: StartMoments;
  },
): Promise<void> {
  await runInTransaction(context.db, async (db) => {
    const row = await updateSessionRow(db, sessionId, ['starting'], {
      state: 'live',
      bot_started_at: took.at,
      ready_at: took.readyAt,
      cold_start: took.cold,
      bot_called_at: took.moments?.botCalledAt,
      transport_connected_at: took.moments?.transportConnectedAt,
      first_frame_at: took.moments?.firstFrameAt,
      updated_at: context.now(),
    });
    if (row !== undefined) await recordSessionStart(db, row, took.at);
  });
}

export type { StartMoments };

/** Records moments of a session's start, also after its end. A recorded moment is never changed. */
export function recordStartMoments(db: Database, sessionId: string, moments: StartMoments): Promise<void> {
  return setStartMoments(db, sessionId, moments);
}

/** Records why a session ends. Returns false if an earlier cause is recorded, or if the session has ended. */
export async function recordEndCause(
  context: { db: Database; now: () => Date },
  sessionId: string,
  status: SessionCompletionStatus,
): Promise<boolean> {
  const change = { state: 'ending' as const, ending_status: status, updated_at: context.now() };
  return (await updateSessionRow(context.db, sessionId, ['starting', 'live'], change)) !== undefined;
}

/** Adds events to a session, also after its end. Details must not contain secrets. */
export async function recordEvents(
  db: Database,
  sessionId: string,
  events: readonly StoredSessionEvent[],
): Promise<void> {
  if (events.length > 0) await appendEvents(db, sessionId, events);
}

/** Returns the request body for the bot as JSON text. */
export async function findSessionStartBody(db: Database, sessionId: string): Promise<string | null> {
  return (await findSessionRequestBody(db, sessionId))?.body ?? null;
}

export function findSessionState(db: Database, sessionId: string) {
  return db
    .selectFrom('sessions')
    .select([
      'state',
      'transport',
      'conversation_level',
      'relay_id',
      'requested_at',
      'dispatched_at',
      'bot_started_at',
      'ended_at',
    ])
    .where('id', '=', sessionId)
    .executeTakeFirst();
}
