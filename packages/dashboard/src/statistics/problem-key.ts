import type { SessionProblem } from '@bothost/contract';

type ProblemKind = Pick<SessionProblem, 'completionStatus' | 'exceptionType' | 'failure'>;

/** Returns the text that names a problem in URLs, such as `500/KeyError`, `HTTP_ERROR//SIGSEGV`, or `HTTP_ERROR` for an unknown cause. */
export function formatProblemKey({ completionStatus, exceptionType, failure }: ProblemKind): string {
  return [completionStatus, exceptionType ?? '', failure ?? ''].join('/').replace(/\/+$/, '');
}

/** Returns the query that selects the sessions with a problem. */
export function parseProblemKey(key: string) {
  const [completionStatus = '', exceptionType = '', failure = ''] = key.split('/');
  return { completionStatus, exceptionType, failure };
}
