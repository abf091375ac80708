import { explainSessionEnd, readLastOutput, type SessionResponse } from '@bothost/contract';

/** Returns the last output of a bot, which the page shows with the problem of its session. Null if there is no problem or output. */
export function findProblemOutput(session: SessionResponse): string | null {
  if (explainSessionEnd(session) === null) return null;
  return session.events.map(readLastOutput).findLast((text) => text !== null) ?? null;
}
