import type { InstanceAddress } from '@bothost/runtime';
import { controlToken } from '../instances/control-token.ts';
import { startHeaders } from '../sessions/bot-headers.ts';
import { markHandedOver, markLive } from '../sessions/progress.ts';
import type { Database } from '../store/tables.ts';
import type { Attendance } from './attendance.ts';
import { askBot, type BotSession, postBot } from './bot-http.ts';
import { type BotAnswer, completionOf } from './completion.ts';

/** A session whose instance is ready, with all that its hand-over needs. */
export type AttendedSession = {
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
  readonly handedOverAt: Date | null;
  readonly botStartedAt: Date | null;
};

export type AttendContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly key: Buffer;
  readonly attendance: Attendance;
  /** Ends with the process; bots go on. */
  readonly closing: AbortSignal;
  /** Tries again while the database is away. */
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  readonly finish: (sessionId: string, status: string, at?: Date) => Promise<void>;
  /** The bot has the session: requests may reach it. */
  readonly onOpen: (sessionId: string) => void;
  /** It took it just now. */
  readonly onLive: (session: AttendedSession, at: Date) => void;
};

/** The longest wait that one question to a bot may take. */
const askSeconds = 25;
/** Between two questions, whatever the bot answers. */
const againMilliseconds = 1_000;
/** A bot that says nothing for so long has no such route. */
const firstAnswerMilliseconds = 2_000;

/** Gives a session to its instance, for the first time for certain, and stays with it to its end. Rejects when the record cannot be written. */
export async function handOver(context: AttendContext, session: AttendedSession): Promise<void> {
  const token = controlToken(context.key, session.instanceId);
  // A bot that cannot be asked must not be started twice: so it is written down before, at the price of one commit.
  if (!session.reportsSession) await context.persist(() => markHandedOver(context, session.id));
  const headers = startHeaders({ ...session, controlToken: token });
  const { delivered, answer, abort } = postBot(session.address, headers, session.body ?? '{}');
  context.attendance.hold(session.id, abort);
  context.closing.addEventListener('abort', abort, { once: true });
  const startedAt = await delivered.then(context.now, () => null);
  if (startedAt !== null) await markStarted(context, session, startedAt);
  const outcome = await answer;
  context.closing.removeEventListener('abort', abort);
  // Its request broke because this server closes; the next one asks the bot.
  if (context.closing.aborted) return;
  await finishBy(context, session, startedAt, outcome);
}

/**
 * Takes up a session after a restart: the bot is asked what it knows, and only one that surely has nothing gets the
 * hand-over. One that cannot be asked, or does not answer, ends by its exit or its limit. Rejects when the record cannot be
 * written.
 */
export async function resume(context: AttendContext, session: AttendedSession): Promise<void> {
  if (!session.reportsSession) {
    if (session.handedOverAt === null && session.botStartedAt === null) return handOver(context, session);
    // One that was only too busy to be asked when it became ready can tell by now.
    if (!(await canBeAsked(context, session))) {
      context.onOpen(session.id);
      if (session.botStartedAt === null) await markStarted(context, session, session.handedOverAt ?? context.now());
      return;
    }
  }
  let started = session.botStartedAt;
  // The first question is answered at once: requests for the bot are held until then.
  for (let wait = 0; ; wait = askSeconds) {
    const known = await ask(context, session, wait);
    if (known === 'closing' || known === 'released') return;
    // It has no such route, though it had: its exit or its limit ends the session.
    if (known === null) return;
    if (known.state === 'idle') return handOver(context, session);
    context.onOpen(session.id);
    if (started === null) {
      started = within(known.startedAt, session.readyAt ?? session.claimedAt, context.now());
      await markStarted(context, session, started);
    }
    if (known.state === 'ended') {
      const word = known.completionStatus ?? null;
      const answer = { kind: 'answered', status: known.status ?? 200, word } as const;
      return finishBy(context, session, started, answer, within(known.endedAt, started, context.now()));
    }
  }
}

async function canBeAsked(context: AttendContext, session: AttendedSession): Promise<boolean> {
  const token = controlToken(context.key, session.instanceId);
  const signal = AbortSignal.any([context.closing, AbortSignal.timeout(firstAnswerMilliseconds)]);
  const known = await askBot(session.address, token, 0, signal).catch(() => null);
  return known !== null;
}

/** One answer of a bot that is asked again until it gives one, or until somebody else ended its session. */
async function ask(
  context: AttendContext,
  session: AttendedSession,
  waitSeconds: number,
): Promise<BotSession | null | 'closing' | 'released'> {
  const { attendance, closing } = context;
  const token = controlToken(context.key, session.instanceId);
  for (;;) {
    const soonest = AbortSignal.timeout(againMilliseconds);
    const known = await askBot(session.address, token, waitSeconds, closing).catch((error: Error) => error);
    if (closing.aborted) return 'closing';
    const goesOn = known instanceof Error || (known?.state === 'running' && waitSeconds > 0);
    if (!goesOn) return known;
    await attendance.released(session.id, AbortSignal.any([closing, soonest]));
    if (closing.aborted) return 'closing';
    if (!attendance.has(session.id)) return 'released';
  }
}

/** A bot knows moments that nobody else saw; but none before `least`, and none in the future. */
export function within(said: string | null | undefined, least: Date | null, now: Date): Date {
  const moment = said == null ? now : new Date(said);
  if (moment > now) return now;
  return least !== null && moment < least ? least : moment;
}

async function markStarted(context: AttendContext, session: AttendedSession, at: Date): Promise<void> {
  context.onOpen(session.id);
  context.onLive(session, at);
  const { readyAt, cold } = session;
  await context.persist(() => markLive(context, session.id, { at, readyAt, cold }));
}

async function finishBy(
  context: AttendContext,
  session: AttendedSession,
  startedAt: Date | null,
  answer: BotAnswer,
  endedAt: Date = context.now(),
): Promise<void> {
  const limit = startedAt === null ? Number.POSITIVE_INFINITY : startedAt.getTime() + session.maxSeconds * 1000;
  await context.finish(session.id, completionOf(answer, endedAt.getTime() >= limit), endedAt);
}
