import type { SessionProblem, StatisticsPeriod } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { formatCount } from '../components/format.ts';
import { Row } from '../components/row-list.tsx';
import { RelativeTime } from '../components/time.tsx';
import { listPeriods } from './period.ts';
import { formatProblemKey } from './problem-key.ts';

type ProblemRowProps = {
  readonly organization: string;
  readonly period: StatisticsPeriod;
  readonly problem: SessionProblem;
};

/** A row of a list of problems: sessions of an agent that failed for the same cause. */
export function ProblemRow({ organization, period, problem }: ProblemRowProps) {
  const { agentName, cause, next, count, lastAt, latestSessionId } = problem;
  return (
    <Row
      title={
        <Link
          to="/orgs/$organization/sessions"
          params={{ organization }}
          search={{
            agent: agentName,
            since: listPeriods[period],
            problem: formatProblemKey(problem),
          }}
          className="underline-offset-4 hover:underline"
        >
          {agentName}: {cause}
        </Link>
      }
      facts={[
        <span key="count" className="text-danger">
          {formatCount(count, 'failed session')}
        </span>,
        <>
          Last <RelativeTime at={lastAt} />
        </>,
        next,
      ]}
      actions={
        <Button asChild variant="outline" size="small">
          <Link
            to="/orgs/$organization/sessions/$sessionId"
            params={{ organization, sessionId: latestSessionId }}
            aria-label={`The latest failed session of ${agentName}: ${cause}`}
          >
            Latest
            <ArrowRight aria-hidden="true" className="size-4" />
          </Link>
        </Button>
      }
    />
  );
}
