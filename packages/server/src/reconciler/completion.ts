/** What came of a bot's `POST /bot`, or of asking a bot afterwards. */
export type BotAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly word: string | null }
  | { readonly kind: 'broken'; readonly message: string };

/** Words that only the service may say, so that a bot cannot forge a record (bot contract 2.8). */
const reserved = new Set([
  'HTTP_COMPLETED',
  'HTTP_ERROR',
  'WS_CONNECTION_CLOSED',
  'BOT_START_TIMEOUT',
  'SESSION_STOPPED',
]);
const wordPattern = /^[A-Z][A-Z0-9_]{0,63}$/;

/**
 * The `completionStatus` of a bot's answer (spec 2.4; bot contract 2.8). `atLimit`: it came at or after the session's time
 * limit, and so because of it.
 */
export function completionOf(answer: BotAnswer, atLimit: boolean): string {
  if (atLimit) return 'SESSION_TIME_LIMIT';
  if (answer.kind === 'broken') return 'HTTP_ERROR';
  const { status, word } = answer;
  if (word !== null && wordPattern.test(word) && !reserved.has(word)) return word;
  return status === 200 ? 'HTTP_COMPLETED' : String(status);
}

/** For a bot that cannot be asked: what its exit says. */
export function completionOfExit(exit: { readonly code: number | null }): string {
  return exit.code === 0 ? 'HTTP_COMPLETED' : 'HTTP_ERROR';
}
