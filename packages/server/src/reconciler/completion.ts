import {
  type CompletionStatus,
  completionStatusLabels,
  type KnownCompletionStatus,
  ReportedStatus,
  statusValues,
} from '@bothost/contract';

/**
 * The response to a bot's `POST /bot`, or to a later request for its session's state. `ownStatus` is the completion
 * status that the bot reported itself.
 */
export type BotResponse =
  | { readonly kind: 'responded'; readonly status: number; readonly ownStatus: string | null }
  | { readonly kind: 'broken'; readonly message: string };

/**
 * A bot cannot report these statuses, because only the service can know them. It may report the other statuses, which
 * it can observe itself.
 */
const reservedStatuses: ReadonlySet<string> = new Set(
  statusValues(completionStatusLabels).filter(
    (status) => status !== 'BOT_CONNECTION_TIMEOUT' && status !== 'SESSION_TIME_LIMIT',
  ),
);

/**
 * The `completionStatus` for a bot's response. `atLimit` is true if the response arrived at or after the session's time
 * limit.
 */
export function completionOf(answer: BotResponse, atLimit: boolean): CompletionStatus {
  if (atLimit) return 'SESSION_TIME_LIMIT';
  if (answer.kind === 'broken') return 'HTTP_ERROR';
  const { status, ownStatus } = answer;
  const reported = ReportedStatus.safeParse(ownStatus).data;
  if (reported !== undefined && !reservedStatuses.has(reported)) return reported;
  return status === 200 ? 'HTTP_COMPLETED' : `${status}`;
}

/**
 * Whether a response shows that the bot ran the session instead of rejecting it (docs/bot-contract.md, "Status codes").
 */
export function isAcceptance(answer: BotResponse): boolean {
  if (answer.kind === 'broken') return false;
  return answer.status < 400 || (answer.status >= 500 && answer.status !== 501 && answer.status !== 503);
}

/** The `completionStatus` by the exit code, for a bot that has exited without a response. */
export function completionOfExit(exit: { readonly code: number | null }): KnownCompletionStatus {
  return exit.code === 0 ? 'HTTP_COMPLETED' : 'HTTP_ERROR';
}
