import type { StartMoments } from '../sessions/progress.ts';
import type { SessionTransport } from '../store/tables.ts';
import type { BotSessionState } from './bot-http.ts';
import { clampReportedTime } from './reported-time.ts';

export type StartingSession = { readonly transport: SessionTransport; readonly requestedAt: Date | null };

/** The moments that the Python host reports. The service itself observes the other moments of a WebSocket. */
const reportedMoments: Readonly<Record<SessionTransport, readonly (keyof StartMoments)[]>> = {
  none: ['botCalledAt'],
  websocket: ['botCalledAt'],
  webrtc: ['botCalledAt', 'transportConnectedAt', 'firstFrameAt'],
  daily: ['botCalledAt', 'transportConnectedAt'],
  livekit: ['botCalledAt', 'transportConnectedAt'],
};

/**
 * Reads the moments of a session's start from the report of its bot. `isComplete` means that the bot will report no further
 * moments, because it reports none at all (docs/bot-contract.md, "End of a session"), has reported all, or has ended the session.
 */
export function readStartMoments(
  report: BotSessionState | null,
  { transport, requestedAt }: StartingSession,
  now: Date,
): { readonly moments: StartMoments; readonly isComplete: boolean } {
  if (report === null) return { moments: {}, isComplete: true };
  const names = reportedMoments[transport];
  const known = names.flatMap((name) => {
    const reported = report[name];
    return reported == null ? [] : [[name, clampReportedTime(reported, requestedAt, now)] as const];
  });
  const isPending = report.state === 'idle' || (report.state === 'running' && report.botCalledAt !== undefined);
  return { moments: Object.fromEntries(known), isComplete: !isPending || known.length === names.length };
}
