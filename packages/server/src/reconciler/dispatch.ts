import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConversationLevel,
  createTimeout,
  maxSessionStartWaitSeconds,
  type SessionCompletionStatus,
} from '@bothost/contract';
import type { InstanceAddress } from '@bothost/runtime';
import { deriveControlToken } from '../instances/control-token.ts';
import type { BotRequest } from '../rooms/room-provider.ts';
import { createStartHeaders } from '../sessions/bot-headers.ts';
import type { SessionIceServers } from '../sessions/ice-servers.ts';
import { markDispatched, markLive } from '../sessions/progress.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Meeting, SessionTransport } from '../store/tables.ts';
import {
  type BotException,
  type BotSessionState,
  postSessionToBot,
  requestSessionState,
  yieldToBotRequest,
} from './bot-http.ts';
import { type BotHttpResponse, deriveStatusFromBotResponse, hasBotAcceptedSession } from './completion.ts';
import type { BotFailureRecorder } from './record-bot-failure.ts';
import type { InstanceReplacer } from './replace-instance.ts';
import { clampReportedTime } from './reported-time.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';
import { readStartMoments } from './start-moments.ts';

/** A session whose instance is ready, with all data that a dispatch needs. */
export type ReadySession = {
  readonly id: string;
  readonly instanceId: string;
  readonly address: InstanceAddress;
  readonly reportsSession: boolean;
  readonly organizationId: string;
  readonly transport: Exclude<SessionTransport, 'websocket'>;
  readonly maxSeconds: number;
  readonly conversationLevel: ConversationLevel;
  readonly conversationRedact: readonly string[];
  readonly cold: boolean;
  readonly requestedAt: Date | null;
  readonly claimedAt: Date | null;
  readonly readyAt: Date | null;
  /** The body of the request that started the session, as JSON text. Null if the request had no body. */
  readonly body: string | null;
  readonly dispatchedAt: Date | null;
  readonly botStartedAt: Date | null;
};

export type SessionDispatchContext = Pick<StoreContext, 'db' | 'now' | 'retryWrite'> & {
  readonly key: Buffer;
  readonly ownership: SessionOwnershipRegistry;
  readonly iceServersOf: SessionIceServers;
  /** Returns the body for the bot, and the headers of its room, if it has one. Null if the room can never be read. */
  readonly createRoomRequest: (session: ReadySession) => Promise<BotRequest | null>;
  /** Signal that aborts when the server closes. Bots continue to run. */
  readonly closing: AbortSignal;
  /** Returns a signal that aborts when the time for the bot to accept the session is over. */
  readonly acceptDeadline: () => AbortSignal;
  readonly endSession: (sessionId: string, status: SessionCompletionStatus, at?: Date) => Promise<void>;
  readonly recordBotFailure: BotFailureRecorder;
  readonly replaceInstance: InstanceReplacer;
  /** Whether the instance of a session is still running. The address of an exited instance may belong to another bot by now. */
  readonly isReachable: (sessionId: string) => boolean;
  /**
   * Called for a session that outlived a server, and whose bot has no status route. Lets the bot exit after the session, if it does
   * not do so by itself, until `limit`.
   */
  readonly drainBot: (session: ReadySession, limit: Date) => Promise<void>;
  /** Called just before the session is sent to its instance. */
  readonly onDispatch: (session: ReadySession) => void;
  /** Called when the bot has the session. From then on, requests can be forwarded to the bot. */
  readonly onOpen: (sessionId: string) => void;
  /** Records the moments of the session's start that the bot has not yet reported. */
  readonly watchStart: (session: ReadySession) => void;
  /** Records the meetings that the bot reports to have joined. */
  readonly recordMeetings: (sessionId: string, meetings: readonly Meeting[]) => Promise<void>;
  /** Called once the bot has accepted the session, with the time `at` of the acceptance. */
  readonly onLive: (session: ReadySession, at: Date) => void;
};

/** Long poll: a bot may delay its response to a status request for this time. */
const statusTimeoutSeconds = 25;
/** Applies after a failure, or while the session has not started or ended. */
const statusPollMs = 1_000;
/** First interval between status requests until the bot accepts a session. Doubles up to `statusPollMs`. */
const firstAcceptPollMs = 5;

/**
 * Sends a session to its instance, and waits until the session ends. The instance must not have received the session before.
 * The session is live once the bot has accepted it (docs/bot-contract.md, "Start"). Rejects if the result cannot be recorded.
 */
export async function dispatchSession(context: SessionDispatchContext, session: ReadySession): Promise<void> {
  // Do not dispatch the session while this server process shuts down. The next server process dispatches it.
  if (context.closing.aborted) return;
  const room = await context.createRoomRequest(session);
  if (context.closing.aborted) return;
  if (room === null) return context.endSession(session.id, 'SERVICE_INTERRUPTED');
  // Record the dispatch even if the bot has a status route. The next server process asks this route whether the bot received
  // the session, but if the bot has exited by then, only this record remains.
  const recorded = session.dispatchedAt ?? context.retryWrite(() => markDispatched(context, session.id));
  // A bot without a status route could get the session twice after a crash, so wait for the commit before sending the
  // request.
  if (!session.reportsSession) await recorded;
  const sentAt = context.now();
  const headers = createStartHeaders({
    ...session,
    controlToken: deriveControlToken(context.key, session.instanceId),
    iceServers: context.iceServersOf({ ...session, startedAt: null }),
  });
  context.onDispatch(session);
  const { answer, abort, leave } = postSessionToBot(session.address, { ...headers, ...room.headers }, room.body);
  context.ownership.onAbort(session.id, abort);
  // If the server shuts down now, finish sending the request first, because the database already says that the bot received the
  // session. If the bot cannot report the state of a session, the next server process could not detect that the request was
  // never sent.
  if (context.closing.aborted) leave();
  else context.closing.addEventListener('abort', leave, { once: true });
  const answered = new AbortController();
  void answer.then(() => answered.abort());
  const deadline = context.acceptDeadline();
  const signal = AbortSignal.any([answered.signal, deadline]);
  const [, accepted] = await Promise.all([recorded, whenAccepted(context, session, sentAt, signal)]);
  if (accepted !== null) await markStarted(context, session, accepted.at, accepted.report);
  // If the bot has responded, it is not late, even if the deadline passed while the database was unreachable.
  const isLate = accepted === null && deadline.aborted && !answered.signal.aborted;
  if (isLate) abort();
  const outcome = await answer;
  context.closing.removeEventListener('abort', leave);
  // The connection was closed because this server closes. The next server process asks the bot for the session's state.
  if (context.closing.aborted) return;
  if (isLate) return context.endSession(session.id, 'BOT_START_TIMEOUT');
  if (accepted === null && outcome.kind === 'broken' && outcome.isUndelivered) {
    if (await moveToOtherInstance(context, session, `The bot could not be reached: ${outcome.message}.`)) return;
  }
  // A short session may end before the bot responds to a status request. The time at which the start request was sent is then
  // recorded as the start of the session.
  const startedAt = accepted?.at ?? (hasBotAcceptedSession(outcome) ? sentAt : null);
  if (accepted === null && startedAt !== null) await markStarted(context, session, startedAt, null);
  await endWith(context, session, startedAt, outcome);
}

/**
 * Gives a session that its bot certainly does not have to another instance. If that instance is ready, waits until the session
 * ends. Returns false if the session gets no other instance.
 */
async function moveToOtherInstance(
  context: SessionDispatchContext,
  session: ReadySession,
  cause: string,
): Promise<boolean> {
  const claim = await context.replaceInstance(session, cause);
  if (claim === null) return false;
  const { instanceId, address, readyAt, reportsSession } = claim;
  // A reconcile pass takes the session once its instance is ready.
  if (address === null) context.ownership.release(session.id);
  else {
    const claimed = { instanceId, address, readyAt, reportsSession, claimedAt: context.now(), dispatchedAt: null };
    await dispatchSession(context, { ...session, ...claimed });
  }
  return true;
}

/** Returns when the bot accepted the session, and its report, if any. Returns null if the signal aborts first. */
async function whenAccepted(
  context: SessionDispatchContext,
  session: ReadySession,
  sentAt: Date,
  signal: AbortSignal,
): Promise<{ readonly at: Date; readonly report: BotSessionState | null } | null> {
  await yieldToBotRequest();
  for (let pause = firstAcceptPollMs; ; pause = Math.min(2 * pause, statusPollMs)) {
    const report = await ask(context, session, 0, signal);
    if (report === 'aborted') return null;
    if (report?.state !== 'idle') return { at: clampReportedTime(report?.startedAt, sentAt, context.now()), report };
    await elapse(pause, signal);
  }
}

/**
 * Continues to watch a session after a restart of the server. Asks the bot for the session's state, and dispatches the session
 * only if the bot certainly does not have it, and if its client may still wait. Rejects if the result cannot be recorded.
 */
export async function resumeSession(context: SessionDispatchContext, session: ReadySession): Promise<void> {
  const { dispatchedAt } = session;
  const dispatch = () =>
    session.requestedAt !== null && context.now() >= add(session.requestedAt, maxSessionStartWaitSeconds)
      ? context.endSession(session.id, 'BOT_START_TIMEOUT')
      : dispatchSession(context, session);
  let startedAt = session.botStartedAt;
  if (!session.reportsSession && dispatchedAt === null && startedAt === null) return dispatch();
  const released = new AbortController();
  void context.ownership.released(session.id, context.closing).then(() => released.abort());
  const deadline = context.acceptDeadline();
  // The previous server's request may still be queued in a busy bot. In that case, the bot reports the session only in
  // a later response.
  let mayHaveRequest = dispatchedAt !== null;
  // The first status request asks for an immediate response, because requests of clients are held until the bot responds.
  for (let waitSeconds = 0; ; ) {
    const signal = startedAt === null ? AbortSignal.any([released.signal, deadline]) : released.signal;
    const known = await ask(context, session, waitSeconds, signal);
    if (known === 'aborted') {
      if (released.signal.aborted) return;
      if (startedAt === null && deadline.aborted) return context.endSession(session.id, 'BOT_START_TIMEOUT');
      // If the session gets no other instance, the exit of this one ends it.
      if (startedAt === null && dispatchedAt === null)
        await moveToOtherInstance(context, session, 'The instance ended before it had the session.');
      return;
    }
    if (known?.state === 'idle' && !mayHaveRequest) return dispatch();
    if (known?.state === 'idle') {
      mayHaveRequest = false;
      await elapse(statusPollMs, signal);
      continue;
    }
    context.onOpen(session.id);
    if (startedAt === null) {
      const reported = known?.startedAt ?? dispatchedAt?.toISOString();
      startedAt = clampReportedTime(reported, session.readyAt ?? session.claimedAt, context.now());
      await markStarted(context, session, startedAt, known);
    }
    // The bot has no status route, so only its exit or the time limit ends the session.
    if (known === null) return context.drainBot(session, getTimeLimit(session, startedAt));
    if (known.state === 'ended') {
      const ownStatus = known.completionStatus ?? null;
      const { meetings } = known;
      const answer = { kind: 'responded', status: known.status ?? 200, ownStatus, meetings } as const;
      const endedAt = clampReportedTime(known.endedAt, startedAt, context.now());
      return endWith(context, session, startedAt, answer, endedAt, known.exception);
    }
    waitSeconds = statusTimeoutSeconds;
  }
}

/** Asks until the bot responds. Null without a status route; `aborted` at an abort or if the instance has exited. */
async function ask(
  context: SessionDispatchContext,
  session: ReadySession,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<BotSessionState | null | 'aborted'> {
  const token = deriveControlToken(context.key, session.instanceId);
  for (;;) {
    const soonest = elapse(statusPollMs, signal);
    const known = await requestSessionState(session.address, token, waitSeconds, signal).catch((error: Error) => error);
    const goesOn = known instanceof Error || (known?.state === 'running' && waitSeconds > 0);
    if (goesOn) await soonest;
    if (signal.aborted || !context.isReachable(session.id)) return 'aborted';
    if (!goesOn) return known;
    // The request for the session's state failed, but the instance has not exited. A bot that cannot report the state exits
    // when its session ends, so the session is still running.
    if (known instanceof Error && !session.reportsSession) return null;
  }
}

const add = (time: Date, seconds: number) => new Date(time.getTime() + seconds * 1000);
const getTimeLimit = ({ maxSeconds }: ReadySession, startedAt: Date) => add(startedAt, maxSeconds);

/** Resolves after the given time, or when the signal aborts. */
async function elapse(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

async function markStarted(
  context: SessionDispatchContext,
  session: ReadySession,
  at: Date,
  report: BotSessionState | null,
): Promise<void> {
  context.onOpen(session.id);
  context.onLive(session, at);
  const { readyAt, cold } = session;
  await context.recordMeetings(session.id, report?.meetings ?? []);
  const { moments, isComplete } = readStartMoments(report, session, context.now());
  await context.retryWrite(() => markLive(context, session.id, { at, readyAt, cold, moments }));
  if (!isComplete) context.watchStart(session);
}

/** `exception` is undefined if the bot was not asked for it yet. */
async function endWith(
  context: SessionDispatchContext,
  session: ReadySession,
  startedAt: Date | null,
  answer: BotHttpResponse,
  endedAt: Date = context.now(),
  exception?: BotException | null,
): Promise<void> {
  const isAtLimit = startedAt !== null && endedAt >= getTimeLimit(session, startedAt);
  const status = deriveStatusFromBotResponse(answer, isAtLimit);
  if (answer.kind === 'responded' && answer.status >= 400 && startedAt !== null) {
    const cause = exception === undefined ? await askForException(context, session) : exception;
    await context.recordBotFailure(session, status, cause ?? null, endedAt);
  }
  if (answer.kind === 'responded') await context.recordMeetings(session.id, answer.meetings ?? []);
  await context.endSession(session.id, status, endedAt);
}

async function askForException(context: SessionDispatchContext, session: ReadySession): Promise<BotException | null> {
  if (!session.reportsSession) return null;
  const token = deriveControlToken(context.key, session.instanceId);
  const signal = AbortSignal.any([createTimeout(statusPollMs), context.closing]);
  const known = await requestSessionState(session.address, token, 0, signal).catch(() => null);
  return known?.sessionId === session.id ? (known.exception ?? null) : null;
}
