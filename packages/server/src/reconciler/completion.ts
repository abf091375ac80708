import {
  BotReportedStatus,
  listStatusValues,
  type ServiceDefinedCompletionStatus,
  type SessionCompletionStatus,
  sessionCompletionStatusLabels,
} from '@bothost/contract';

/** The bot's response to `POST /bot` or to a status request. `ownStatus` is the status that the bot reported. */
export type BotHttpResponse =
  | { readonly kind: 'responded'; readonly status: number; readonly ownStatus: string | null }
  | { readonly kind: 'broken'; readonly message: string };

/** Completion statuses that only the service may set. Bots may report all other statuses. */
const reservedStatuses: ReadonlySet<string> = new Set(
  listStatusValues(sessionCompletionStatusLabels).filter(
    (status) => status !== 'BOT_CONNECTION_TIMEOUT' && status !== 'SESSION_TIME_LIMIT',
  ),
);

/**
 * Returns the session's status for a bot's response. `atLimit` is true if the response arrived at or after the time
 * limit.
 */
export function deriveStatusFromBotResponse(answer: BotHttpResponse, atLimit: boolean): SessionCompletionStatus {
  if (atLimit) return 'SESSION_TIME_LIMIT';
  if (answer.kind === 'broken') return 'HTTP_ERROR';
  const { status, ownStatus } = answer;
  const reported = BotReportedStatus.safeParse(ownStatus).data;
  if (reported !== undefined && !reservedStatuses.has(reported)) return reported;
  return status === 200 ? 'HTTP_COMPLETED' : `${status}`;
}

/** Whether the bot ran the session instead of rejecting it (docs/bot-contract.md, "Status codes"). */
export function hasBotAcceptedSession(answer: BotHttpResponse): boolean {
  if (answer.kind === 'broken') return false;
  return answer.status < 400 || (answer.status >= 500 && answer.status !== 501 && answer.status !== 503);
}

/**
 * Derives the `completionStatus` of a session from the exit code of its bot. Used if no server received the bot's HTTP
 * response, which would contain the status.
 */
export function deriveStatusFromBotExit(exit: { readonly code: number | null }): ServiceDefinedCompletionStatus {
  return exit.code === 0 ? 'HTTP_COMPLETED' : 'HTTP_ERROR';
}
