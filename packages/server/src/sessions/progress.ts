import type { CompletionStatus } from '@bothost/contract';
import type { Database, StoredEvent } from '../store/tables.ts';
import { appendEvents, bodyOf, changeSession, openSessions } from './rows.ts';

/** A session that has not ended, as the reconciler sees it. */
export type OpenSession = Awaited<ReturnType<typeof openSessions>>[number];

export function listOpenSessions(db: Database, region: string): Promise<OpenSession[]> {
  return openSessions(db, region);
}

/** Before the hand-over to a bot that could not be asked afterwards whether it had it. */
export async function markDispatched(context: { db: Database; now: () => Date }, sessionId: string): Promise<void> {
  await changeSession(context.db, sessionId, ['starting'], { handed_over_at: context.now() });
}

/**
 * The bot took the session. `cold`: no ready idle instance existed when it was asked for. Does nothing when it was known
 * or the session has ended.
 */
export async function markLive(
  context: { db: Database; now: () => Date },
  sessionId: string,
  took: { readonly at: Date; readonly readyAt: Date | null; readonly cold: boolean },
): Promise<void> {
  await changeSession(context.db, sessionId, ['starting'], {
    state: 'live',
    bot_started_at: took.at,
    ready_at: took.readyAt,
    cold_start: took.cold,
    updated_at: context.now(),
  });
}

/** Decides a session's end, before its instance is stopped: the first cause wins. False when it had one, or has ended. */
export async function decideEnd(
  context: { db: Database; now: () => Date },
  sessionId: string,
  status: CompletionStatus,
): Promise<boolean> {
  const change = { state: 'ending' as const, ending_status: status, updated_at: context.now() };
  return (await changeSession(context.db, sessionId, ['starting', 'live'], change)) !== undefined;
}

/** Keeps what happened to a session, also after its end. Details must hold no secrets. */
export async function recordEvents(db: Database, sessionId: string, events: readonly StoredEvent[]): Promise<void> {
  if (events.length > 0) await appendEvents(db, sessionId, events);
}

/** The body that the start request had for the bot, as JSON text. */
export async function bodyForBot(db: Database, sessionId: string): Promise<string | null> {
  return (await bodyOf(db, sessionId))?.body ?? null;
}

export function stateOfSession(db: Database, sessionId: string) {
  return db
    .selectFrom('sessions')
    .select(['state', 'transport', 'requested_at', 'handed_over_at', 'bot_started_at'])
    .where('id', '=', sessionId)
    .executeTakeFirst();
}
