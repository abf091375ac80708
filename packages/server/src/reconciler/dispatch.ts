import { setTimeout as delay } from 'node:timers/promises';
import type { CompletionStatus } from '@bothost/contract';
import type { InstanceAddress } from '@bothost/runtime';
import { controlToken } from '../instances/control-token.ts';
import { startHeaders } from '../sessions/bot-headers.ts';
import { markDispatched, markLive } from '../sessions/progress.ts';
import type { Database } from '../store/tables.ts';
import { askBot, type BotSession, postBot } from './bot-http.ts';
import { type BotResponse, completionOf, isAcceptance } from './completion.ts';
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
  /** Aborts when a bot that has not accepted its session must give it up. */
  readonly acceptDeadline: () => AbortSignal;
  /** Retries while the database is unavailable. */
  readonly retryWrite: <T>(write: () => Promise<T>) => Promise<T>;
  readonly endSession: (sessionId: string, status: CompletionStatus, at?: Date) => Promise<void>;
  /** False once its instance has exited: its address may belong to another bot. */
  readonly isReachable: (sessionId: string) => boolean;
  /** The bot has the session: requests can be forwarded to it. */
  readonly onOpen: (sessionId: string) => void;
  /** The bot has just accepted the session. */
  readonly onLive: (session: ReadySession, at: Date) => void;
};

/** The longest time that a bot may hold one status request. */
const askSeconds = 25;
/** Minimum interval between two status requests that the bot did not answer, or answered before its session ended. */
const againMilliseconds = 1_000;
/** First interval between two status requests until the bot accepts a session; doubles up to `againMilliseconds`. */
const acceptMilliseconds = 5;

/**
 * Gives a session to its instance, which must not have it yet, and follows it to its end. The session is live once the bot has
 * accepted it (docs/bot-contract.md, "Start"). Rejects when the record cannot be written.
 */
export async function dispatch(context: DispatchContext, session: ReadySession): Promise<void> {
  // For all bots: if the bot has exited when the next server starts, only this record shows that it had the session.
  const recorded = context.retryWrite(() => markDispatched(context, session.id));
  // A bot without a status route must not get the session twice. Wait for the commit before sending the request.
  if (!session.reportsSession) await recorded;
  const sentAt = context.now();
  const headers = startHeaders({ ...session, controlToken: controlToken(context.key, session.instanceId) });
  const { answer, abort } = postBot(session.address, headers, session.body ?? '{}');
  context.ownership.acquire(session.id, abort);
  context.closing.addEventListener('abort', abort, { once: true });
  const answered = new AbortController();
  void answer.then(() => answered.abort());
  const deadline = context.acceptDeadline();
  const signal = AbortSignal.any([answered.signal, deadline]);
  const [, acceptedAt] = await Promise.all([recorded, whenAccepted(context, session, sentAt, signal)]);
  if (acceptedAt !== null) await markStarted(context, session, acceptedAt);
  const isLate = acceptedAt === null && deadline.aborted;
  if (isLate) abort();
  const outcome = await answer;
  context.closing.removeEventListener('abort', abort);
  // The request was aborted because this server closes; the next server asks the bot.
  if (context.closing.aborted) return;
  if (isLate) return context.endSession(session.id, 'BOT_START_TIMEOUT');
  // A short session may end before the bot was asked.
  const startedAt = acceptedAt ?? (isAcceptance(outcome) ? sentAt : null);
  if (acceptedAt === null && startedAt !== null) await markStarted(context, session, startedAt);
  await endWith(context, session, startedAt, outcome);
}

/** When the bot accepted the session, or null if the signal aborts first. */
async function whenAccepted(
  context: DispatchContext,
  session: ReadySession,
  sentAt: Date,
  signal: AbortSignal,
): Promise<Date | null> {
  for (let pause = acceptMilliseconds; ; pause = Math.min(2 * pause, againMilliseconds)) {
    const known = await ask(context, session, 0, signal);
    if (known === 'aborted') return null;
    if (known?.state !== 'idle') return within(known?.startedAt, sentAt, context.now());
    await elapse(pause, signal);
  }
}

/**
 * Follows a session after a restart. Asks the bot for its state, and dispatches only if the bot certainly does not have the
 * session. Rejects when the record cannot be written.
 */
export async function resume(context: DispatchContext, session: ReadySession): Promise<void> {
  const { dispatchedAt } = session;
  let startedAt = session.botStartedAt;
  if (!session.reportsSession && dispatchedAt === null && startedAt === null) return dispatch(context, session);
  const released = new AbortController();
  void context.ownership.released(session.id, context.closing).then(() => released.abort());
  const deadline = context.acceptDeadline();
  // The former server's request may still wait in a bot that was busy. The bot then reports the session the second time.
  let mayHaveRequest = dispatchedAt !== null;
  // The first request does not wait: requests for the bot are held until its answer.
  for (let waitSeconds = 0; ; ) {
    const signal = startedAt === null ? AbortSignal.any([released.signal, deadline]) : released.signal;
    const known = await ask(context, session, waitSeconds, signal);
    if (known === 'aborted') {
      const isLate = startedAt === null && deadline.aborted && !released.signal.aborted;
      return isLate ? context.endSession(session.id, 'BOT_START_TIMEOUT') : undefined;
    }
    if (known?.state === 'idle' && !mayHaveRequest) return dispatch(context, session);
    if (known?.state === 'idle') {
      mayHaveRequest = false;
      await elapse(againMilliseconds, signal);
      continue;
    }
    context.onOpen(session.id);
    if (startedAt === null) {
      const reported = known?.startedAt ?? dispatchedAt?.toISOString();
      startedAt = within(reported, session.readyAt ?? session.claimedAt, context.now());
      await markStarted(context, session, startedAt);
    }
    // A bot without a status route: its exit or the time limit ends the session.
    if (known === null) return;
    if (known.state === 'ended') {
      const ownStatus = known.completionStatus ?? null;
      const answer = { kind: 'responded', status: known.status ?? 200, ownStatus } as const;
      return endWith(context, session, startedAt, answer, within(known.endedAt, startedAt, context.now()));
    }
    waitSeconds = askSeconds;
  }
}

/**
 * Asks the bot for the state of its session until it answers. Null: it has no status route, but it reacts to requests, so it
 * has had the earlier request, too.
 */
async function ask(
  context: DispatchContext,
  session: ReadySession,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<BotSession | null | 'aborted'> {
  const token = controlToken(context.key, session.instanceId);
  for (;;) {
    const soonest = elapse(againMilliseconds, signal);
    const known = await askBot(session.address, token, waitSeconds, signal).catch((error: Error) => error);
    const goesOn = known instanceof Error || (known?.state === 'running' && waitSeconds > 0);
    if (goesOn) await soonest;
    if (signal.aborted || !context.isReachable(session.id)) return 'aborted';
    if (!goesOn) return known;
    // It may respond with anything. If it had ended, its exit would have ended the session by now.
    if (known instanceof Error && !session.reportsSession) return null;
  }
}

/** Resolves after a time, or at the abort. */
async function elapse(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
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
