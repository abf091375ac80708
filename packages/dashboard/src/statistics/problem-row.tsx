import { formatCount, type StatisticsPeriod } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { formatTimeRange } from '../components/format.ts';
import { Row } from '../components/row-list.tsx';
import { getAgentReference, nameAgent } from '../organization/agent-reference.ts';
import { AgentLinks } from './agent-links.tsx';
import { listPeriods } from './period.ts';
import type { ProblemGroup } from './problem-group.ts';

type ProblemRowProps = {
  readonly organization: string;
  readonly period: StatisticsPeriod;
  readonly problem: ProblemGroup;
  /** Whether the row names the agent or the agents. False on the page of an agent. */
  readonly hasAgents?: boolean;
};

/** A row of a list of problems: sessions that failed for the same cause. */
export function ProblemRow({ organization, period, problem, hasAgents = true }: ProblemRowProps) {
  const { key, agents, cause, next, count, firstAt, lastAt, latestSessionId } = problem;
  const [first, ...others] = agents;
  const agent = others.length === 0 ? first : undefined;
  const title = agent === undefined || !hasAgents ? cause : `${nameAgent(agent)}: ${cause}`;
  return (
    <Row
      title={
        <Link
          to="/orgs/$organization/sessions"
          params={{ organization }}
          search={{ agent: agent && getAgentReference(agent), since: listPeriods[period], problem: key }}
          className="underline-offset-4 hover:underline"
        >
          {title}
        </Link>
      }
      facts={[
        <span key="count" className="text-danger">
          {formatCount(count, 'failed session')}
          {agent === undefined && ` in ${agents.length} agents`}
        </span>,
        <span key="times" className="tabular-nums">
          {formatTimeRange(new Date(firstAt), new Date(lastAt), new Date())}
        </span>,
        next,
        ...(agent === undefined
          ? [<AgentLinks key="agents" organization={organization} tab="" agents={agents} />]
          : []),
      ]}
      actions={
        <Button asChild variant="outline" size="small">
          <Link
            to="/orgs/$organization/sessions/$sessionId"
            params={{ organization, sessionId: latestSessionId }}
            aria-label={`The latest failed session, ${title}`}
          >
            Latest
            <ArrowRight aria-hidden="true" className="size-4" />
          </Link>
        </Button>
      }
    />
  );
}
