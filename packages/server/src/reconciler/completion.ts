import {
  BotReportedStatus,
  listStatusValues,
  type ServiceDefinedCompletionStatus,
  type SessionCompletionStatus,
  sessionCompletionStatusLabels,
} from '@bothost/contract';
import { brokenConnectionCode, type RelayedSocketEnd } from '../sessions/relayed-socket-end.ts';
import type { Meeting } from '../store/tables.ts';

/** The bot's response to `POST /bot` or to a status request. `ownStatus` and `meetings` are what the bot reported. */
export type BotHttpResponse =
  | {
      readonly kind: 'responded';
      readonly status: number;
      readonly ownStatus: string | null;
      readonly meetings?: readonly Meeting[] | null | undefined;
    }
  /** `isUndelivered`: no connection to the bot was established, so it certainly did not get the request. */
  | { readonly kind: 'broken'; readonly message: string; readonly isUndelivered: boolean };

/** Completion statuses that only the service may set. Bots may report all other statuses. */
const reservedStatuses: ReadonlySet<string> = new Set(
  listStatusValues(sessionCompletionStatusLabels).filter(
    (status) => status !== 'BOT_CONNECTION_TIMEOUT' && status !== 'SESSION_TIME_LIMIT',
  ),
);

/** The status for a bot's response. `atLimit`: it arrived at or after the time limit. */
export function deriveStatusFromBotResponse(answer: BotHttpResponse, atLimit: boolean): SessionCompletionStatus {
  if (atLimit) return 'SESSION_TIME_LIMIT';
  if (answer.kind === 'broken') return 'HTTP_ERROR';
  const { status, ownStatus } = answer;
  const reported = BotReportedStatus.safeParse(ownStatus).data;
  if (reported !== undefined && !reservedStatuses.has(reported)) return reported;
  return status === 200 ? 'HTTP_COMPLETED' : `${status}`;
}

/** Failure close codes and their HTTP statuses (RFC 6455, section 7.4.1, and IANA): 1011 internal error, 1012 restart. */
const failureCloseCodes: ReadonlyMap<number, number> = new Map([
  [1011, 500],
  [1012, 503],
]);

/**
 * Returns the status of a session whose WebSocket was relayed. `reported` is what the bot said about the session after it closed
 * the socket: it may raise an exception after a normal close. `atLimit` is true if the socket ended at or after the time limit.
 */
export function deriveStatusFromSocketEnd(
  end: RelayedSocketEnd,
  reported: {
    readonly status?: number | null | undefined;
    readonly completionStatus?: string | null | undefined;
  } | null,
  atLimit: boolean,
): SessionCompletionStatus {
  if (end.by === 'client') return 'WS_CONNECTION_CLOSED';
  if (end.by === 'service') return 'SERVICE_INTERRUPTED';
  if (atLimit || reported?.completionStatus === 'SESSION_TIME_LIMIT') return 'SESSION_TIME_LIMIT';
  const status = reported?.status ?? failureCloseCodes.get(end.code) ?? 200;
  if (status >= 400) return `${status}`;
  return end.code === brokenConnectionCode ? 'HTTP_ERROR' : 'WS_CONNECTION_CLOSED';
}

/** Whether the bot ran the session instead of rejecting it (docs/bot-contract.md, "Status codes"). */
export function hasBotAcceptedSession(answer: BotHttpResponse): boolean {
  if (answer.kind === 'broken') return false;
  return answer.status < 400 || (answer.status >= 500 && answer.status !== 501 && answer.status !== 503);
}

/**
 * Derives the `completionStatus` of a session from the exit of its bot. Used if no server received the bot's HTTP response, which
 * would contain the status. `isDrained`: SIGTERM may have asked the bot to exit after its session. Some HTTP servers, such
 * as uvicorn, then end themselves with the same signal.
 */
export function deriveStatusFromBotExit(
  exit: { readonly code: number | null; readonly signal: string | null },
  isDrained: boolean,
): ServiceDefinedCompletionStatus {
  return exit.code === 0 || (isDrained && exit.signal === 'SIGTERM') ? 'HTTP_COMPLETED' : 'HTTP_ERROR';
}
