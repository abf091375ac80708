import type { InstanceAddress } from '@bothost/runtime';
import { deriveControlToken } from '../instances/control-token.ts';
import type { RelayedSocketEnd } from '../sessions/relayed-socket-end.ts';
import { type BotSessionState, requestSessionState } from './bot-http.ts';
import { deriveStatusFromSocketEnd } from './completion.ts';
import type { BotFailureRecorder } from './record-bot-failure.ts';
import type { SessionEndRecorder } from './record-ends.ts';

/** A session whose WebSocket was relayed. `address` and `startedAt` are null if the bot never had the session. */
type RelayedSession = {
  readonly id: string;
  readonly instanceId: string;
  readonly address: InstanceAddress | null;
  readonly startedAt: Date | null;
  readonly maxSeconds: number;
};

export type RelayedSessionEnder = (session: RelayedSession, end: RelayedSocketEnd) => Promise<void>;

type Context = {
  readonly now: () => Date;
  readonly key: Buffer;
  readonly endSession: SessionEndRecorder['endSession'];
  readonly recordBotFailure: BotFailureRecorder;
};

/**
 * Seconds that a bot may need after it closed the socket until it reports how its session ended. The whole request takes less
 * time than the service waits for the end of the session if the bot exits (`botResponseTimeoutMs`).
 */
const reportSeconds = 2;

export function createRelayedSessionEnder(context: Context): RelayedSessionEnder {
  const { now, endSession, recordBotFailure } = context;

  async function requestReport(session: RelayedSession): Promise<BotSessionState | null> {
    if (session.address === null) return null;
    const token = deriveControlToken(context.key, session.instanceId);
    const signal = AbortSignal.timeout(reportSeconds * 1000 + 500);
    const report = await requestSessionState(session.address, token, reportSeconds, signal).catch(() => null);
    return report?.state === 'ended' && report.sessionId === session.id ? report : null;
  }

  return async (session, end) => {
    const endedAt = now();
    const report = end.by === 'bot' ? await requestReport(session) : null;
    const { startedAt, maxSeconds } = session;
    const isAtLimit = startedAt !== null && endedAt.getTime() >= startedAt.getTime() + maxSeconds * 1000;
    const status = deriveStatusFromSocketEnd(end, report, isAtLimit);
    await recordBotFailure({ ...session }, status, report?.exception ?? null, endedAt);
    await endSession(session.id, status, endedAt);
  };
}
