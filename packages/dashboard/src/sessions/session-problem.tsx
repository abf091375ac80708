import {
  explainSessionEnd,
  findBotFailure,
  formatCount,
  isEventOfThisVersion,
  type SessionResponse,
} from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Alert } from '../components/alert.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';
import { formatProblemKey } from '../statistics/problem-key.ts';
import { problemsQuery } from '../statistics/queries.ts';
import { findProblemOutput } from './problem-output.ts';

type SessionProblemProps = {
  readonly organization: string;
  /** Name or id of the agent. */
  readonly agent: string;
  readonly session: SessionResponse;
};

/** Says why a session failed or was cut short, what to do, and how often it happened in the last week. Nothing for other sessions. */
export function SessionProblem({ organization, agent, session }: SessionProblemProps) {
  const explanation = explainSessionEnd(session);
  if (explanation === null) return null;
  const output = findProblemOutput(session);
  return (
    <Alert>
      <div className="flex flex-col gap-3">
        <div>
          <p className="font-medium wrap-anywhere">{explanation.cause}</p>
          <p>{explanation.next}</p>
        </div>
        {output !== null && (
          <div className="text-foreground">
            <TextBlock label="Last output" text={stripControlCharacters(output)} />
          </div>
        )}
        <p className="flex flex-wrap gap-x-5 gap-y-1">
          <SimilarFailures organization={organization} agent={agent} session={session} />
          <Link
            to="/orgs/$organization/logs"
            params={{ organization }}
            search={{ agent, session: session.sessionId, level: 'ERROR' }}
            className="underline underline-offset-4"
          >
            Errors in its log
          </Link>
        </p>
      </div>
    </Alert>
  );
}

function SimilarFailures({ organization, agent, session }: SessionProblemProps) {
  const problems = useQuery(problemsQuery(organization, 'week', agent));
  const key = formatProblemKey({
    completionStatus: session.completionStatus ?? '',
    exceptionType: findExceptionType(session),
    failure: session.completionStatus === 'HTTP_ERROR' ? findBotFailure(session.events) : null,
  });
  const problem = problems.data?.problems.find((one) => formatProblemKey(one) === key);
  if (problem === undefined || problem.count < 2) return null;
  return (
    <Link
      to="/orgs/$organization/sessions"
      params={{ organization }}
      search={{ agent, problem: key, since: '7d' }}
      className="underline underline-offset-4"
    >
      {formatCount(problem.count, 'similar failure')} in the last week
    </Link>
  );
}

function findExceptionType({ events }: SessionResponse): string | null {
  const failure = events.filter(isEventOfThisVersion).findLast(({ eventCode }) => eventCode === 'BOT_FAILED');
  return failure?.eventCode === 'BOT_FAILED' ? failure.detail.exceptionType : null;
}
