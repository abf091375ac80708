import { setTimeout as delay } from 'node:timers/promises';
import type { BotAddress } from '../instances/address.ts';
import { deriveControlToken } from '../instances/control-token.ts';
import { recordMeetings } from '../rooms/session-room.ts';
import { recordStartMoments } from '../sessions/progress.ts';
import type { StoreContext } from '../store/store-context.ts';
import { requestSessionState } from './bot-http.ts';
import { readStartMoments, type StartingSession } from './start-moments.ts';

export type StartWatchContext = Pick<StoreContext, 'db' | 'now' | 'retryWrite'> & {
  readonly key: Buffer;
  readonly closing: AbortSignal;
  /** Whether the instance of a session is still running. */
  readonly isReachable: (sessionId: string) => boolean;
};

export type WatchedSession = StartingSession & {
  readonly id: string;
  readonly instanceId: string;
  readonly address: BotAddress;
};

/** Intervals in milliseconds between status requests. The interval doubles after each request. */
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A bot waits at most this long for its client. */
const longestWatchMs = 150_000;

/** Records the moments of a session's start, unless the bot does not report them (docs/bot-contract.md). */
export async function watchStart(context: StartWatchContext, session: WatchedSession): Promise<void> {
  const token = deriveControlToken(context.key, session.instanceId);
  const until = performance.now() + longestWatchMs;
  let recorded = 0;
  for (let pauseMs = firstPauseMs; performance.now() < until; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await delay(pauseMs, undefined, { signal: context.closing, ref: false }).catch(() => undefined);
    if (context.closing.aborted || !context.isReachable(session.id)) return;
    const report = await requestSessionState(session.address, token, 0, context.closing).catch(() => undefined);
    if (report === undefined) continue;
    const meetings = report?.meetings ?? [];
    await context.retryWrite(() => recordMeetings(context.db, session.id, meetings));
    const { moments, isComplete } = readStartMoments(report, session, context.now());
    const known = Object.keys(moments).length;
    if (known > recorded) await context.retryWrite(() => recordStartMoments(context.db, session.id, moments));
    recorded = known;
    if (isComplete) return;
  }
}
