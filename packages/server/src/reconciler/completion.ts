import {
  type CompletionStatus,
  completionStatusLabels,
  type KnownCompletionStatus,
  ReportedStatus,
  statusValues,
} from '@bothost/contract';

/** What came of a bot's `POST /bot`, or of asking a bot afterwards. */
export type BotAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly word: string | null }
  | { readonly kind: 'broken'; readonly message: string };

/** A bot cannot report these, so that it cannot forge its record. It may report the other two: it can observe both itself. */
const reservedStatuses: ReadonlySet<string> = new Set(
  statusValues(completionStatusLabels).filter(
    (status) => status !== 'BOT_CONNECTION_TIMEOUT' && status !== 'SESSION_TIME_LIMIT',
  ),
);

/** The `completionStatus` of a bot's response. `atLimit`: the response came at or after the session's time limit. */
export function completionOf(answer: BotAnswer, atLimit: boolean): CompletionStatus {
  if (atLimit) return 'SESSION_TIME_LIMIT';
  if (answer.kind === 'broken') return 'HTTP_ERROR';
  const { status, word } = answer;
  const reported = ReportedStatus.safeParse(word).data;
  if (reported !== undefined && !reservedStatuses.has(reported)) return reported;
  return status === 200 ? 'HTTP_COMPLETED' : `${status}`;
}

/** For a bot that cannot be asked: what its exit says. */
export function completionOfExit(exit: { readonly code: number | null }): KnownCompletionStatus {
  return exit.code === 0 ? 'HTTP_COMPLETED' : 'HTTP_ERROR';
}
