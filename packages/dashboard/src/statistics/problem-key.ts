import type { SessionProblem } from '@bothost/contract';

/** Returns the text that names a problem in URLs, such as `500/KeyError`, or `HTTP_ERROR` without an exception. */
export function formatProblemKey({
  completionStatus,
  exceptionType,
}: Pick<SessionProblem, 'completionStatus' | 'exceptionType'>): string {
  return exceptionType === null ? completionStatus : `${completionStatus}/${exceptionType}`;
}

/** Returns the query that selects the sessions with a problem. */
export function parseProblemKey(key: string): { readonly completionStatus: string; readonly exceptionType: string } {
  const [completionStatus = '', ...exception] = key.split('/');
  return { completionStatus, exceptionType: exception.join('/') };
}
