import type { CompletionStatus } from '@bothost/contract';
import type { InstanceAddress } from '@bothost/runtime';
import { controlToken } from '../instances/control-token.ts';
import { startHeaders } from '../sessions/bot-headers.ts';
import { markDispatched, markLive } from '../sessions/progress.ts';
import type { Database } from '../store/tables.ts';
import { askBot, type BotSession, postBot } from './bot-http.ts';
import { type BotResponse, completionOf } from './completion.ts';
import type { SessionOwnership } from './session-ownership.ts';

/** A session whose instance is ready, with everything that its dispatch needs. */
export type ReadySession = {
  readonly id: string;
  readonly instanceId: string;
  readonly address: InstanceAddress;
  readonly reportsSession: boolean;
  readonly transport: 'none' | 'webrtc';
  readonly maxSeconds: number;
  readonly cold: boolean;
  readonly requestedAt: Date | null;
  readonly claimedAt: Date | null;
  readonly readyAt: Date | null;
  /** JSON text, or null for none. */
  readonly body: string | null;
  readonly dispatchedAt: Date | null;
  readonly botStartedAt: Date | null;
};

export type DispatchContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly key: Buffer;
  readonly ownership: SessionOwnership;
  /** Aborted when the process closes; bots continue to run. */
  readonly closing: AbortSignal;
  /** Retries while the database is unavailable. */
  readonly retryWrite: <T>(write: () => Promise<T>) => Promise<T>;
  readonly endSession: (sessionId: string, status: CompletionStatus, at?: Date) => Promise<void>;
  /** The bot has the session: requests can be forwarded to it. */
  readonly onOpen: (sessionId: string) => void;
  /** The bot has just accepted the session. */
  readonly onLive: (session: ReadySession, at: Date) => void;
};

/** The longest time that a bot may hold one status request. */
const askSeconds = 25;
/** Minimum interval between two status requests. */
const againMilliseconds = 1_000;
/** A bot that does not respond within this time has no status route. */
const firstAnswerMilliseconds = 2_000;

/** Gives a session to its instance, which must not have it yet, and follows it to its end. Rejects when the record cannot be written. */
export async function dispatch(context: DispatchContext, session: ReadySession): Promise<void> {
  const token = controlToken(context.key, session.instanceId);
  // A bot without a status route must not get the session twice. Record the dispatch first, at the cost of one commit.
  if (!session.reportsSession) await context.retryWrite(() => markDispatched(context, session.id));
  const headers = startHeaders({ ...session, controlToken: token });
  const { delivered, answer, abort } = postBot(session.address, headers, session.body ?? '{}');
  context.ownership.acquire(session.id, abort);
  context.closing.addEventListener('abort', abort, { once: true });
  const startedAt = await delivered.then(context.now, () => null);
  if (startedAt !== null) await markStarted(context, session, startedAt);
  const outcome = await answer;
  context.closing.removeEventListener('abort', abort);
  // The request was aborted because this server closes; the next server asks the bot.
  if (context.closing.aborted) return;
  await endWith(context, session, startedAt, outcome);
}

/**
 * Follows a session after a restart. Asks the bot for its state, and dispatches only if the bot certainly does not have the
 * session. Without an answer, the session ends by the bot's exit or its time limit. Rejects when the record cannot be written.
 */
export async function resume(context: DispatchContext, session: ReadySession): Promise<void> {
  if (!session.reportsSession) {
    if (session.dispatchedAt === null && session.botStartedAt === null) return dispatch(context, session);
    // A bot that was too busy to answer when it became ready may answer now.
    if (!(await canBeAsked(context, session))) {
      context.onOpen(session.id);
      if (session.botStartedAt === null) await markStarted(context, session, session.dispatchedAt ?? context.now());
      return;
    }
  }
  let started = session.botStartedAt;
  // The first request does not wait: requests for the bot are held until its answer.
  for (let wait = 0; ; wait = askSeconds) {
    const known = await ask(context, session, wait);
    if (known === 'closing' || known === 'released') return;
    // The bot no longer has a status route: its exit or the time limit ends the session.
    if (known === null) return;
    if (known.state === 'idle') return dispatch(context, session);
    context.onOpen(session.id);
    if (started === null) {
      started = within(known.startedAt, session.readyAt ?? session.claimedAt, context.now());
      await markStarted(context, session, started);
    }
    if (known.state === 'ended') {
      const ownStatus = known.completionStatus ?? null;
      const answer = { kind: 'responded', status: known.status ?? 200, ownStatus } as const;
      return endWith(context, session, started, answer, within(known.endedAt, started, context.now()));
    }
  }
}

async function canBeAsked(context: DispatchContext, session: ReadySession): Promise<boolean> {
  const token = controlToken(context.key, session.instanceId);
  const signal = AbortSignal.any([context.closing, AbortSignal.timeout(firstAnswerMilliseconds)]);
  const known = await askBot(session.address, token, 0, signal).catch(() => null);
  return known !== null;
}

/** Asks the bot until it answers, or until its session has been ended otherwise. */
async function ask(
  context: DispatchContext,
  session: ReadySession,
  waitSeconds: number,
): Promise<BotSession | null | 'closing' | 'released'> {
  const { ownership, closing } = context;
  const token = controlToken(context.key, session.instanceId);
  for (;;) {
    const soonest = AbortSignal.timeout(againMilliseconds);
    const known = await askBot(session.address, token, waitSeconds, closing).catch((error: Error) => error);
    if (closing.aborted) return 'closing';
    const goesOn = known instanceof Error || (known?.state === 'running' && waitSeconds > 0);
    if (!goesOn) return known;
    await ownership.released(session.id, AbortSignal.any([closing, soonest]));
    if (closing.aborted) return 'closing';
    if (!ownership.has(session.id)) return 'released';
  }
}

/** A moment reported by a bot, limited to the range from `least` to `now`. */
export function within(said: string | null | undefined, least: Date | null, now: Date): Date {
  const moment = said == null ? now : new Date(said);
  if (moment > now) return now;
  return least !== null && moment < least ? least : moment;
}

async function markStarted(context: DispatchContext, session: ReadySession, at: Date): Promise<void> {
  context.onOpen(session.id);
  context.onLive(session, at);
  const { readyAt, cold } = session;
  await context.retryWrite(() => markLive(context, session.id, { at, readyAt, cold }));
}

async function endWith(
  context: DispatchContext,
  session: ReadySession,
  startedAt: Date | null,
  answer: BotResponse,
  endedAt: Date = context.now(),
): Promise<void> {
  const limit = startedAt === null ? Number.POSITIVE_INFINITY : startedAt.getTime() + session.maxSeconds * 1000;
  await context.endSession(session.id, completionOf(answer, endedAt.getTime() >= limit), endedAt);
}
