import {
  type AgentListItem,
  type DeploymentStatistics,
  getAgentStatus,
  type Statistics,
  type StatisticsPeriod,
} from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { agentListQuery } from '../agents/queries.ts';
import { AgentBadges } from '../components/agent-badges.tsx';
import { DataTable } from '../components/data-table.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { MedianResponse } from '../statistics/outcome-figures.tsx';
import { findOutcomes } from '../statistics/outcomes.ts';
import { periodLabels } from '../statistics/period.ts';

type AgentTableProps = {
  readonly organization: string;
  readonly period: StatisticsPeriod;
  readonly statistics: Statistics;
};

/** The agents of the organization, those with the most failed sessions of the period first. */
export function AgentTable({ organization, period, statistics }: AgentTableProps) {
  const agents = useQuery(agentListQuery(organization));
  const deploymentsOf = (id: string) => statistics.deployments.filter(({ agentId }) => agentId === id);
  const sum = (id: string, figure: 'sessions' | 'failed') =>
    deploymentsOf(id).reduce((total, deployment) => total + deployment[figure], 0);
  /** The figures of the newest deployment that had sessions. */
  const newest = (id: string) => {
    const deployments = deploymentsOf(id);
    return findOutcomes(deployments, deployments.findLast(({ sessions }) => sessions > 0)?.deploymentId ?? '');
  };
  const order = (one: AgentListItem, other: AgentListItem) =>
    sum(other.id, 'failed') - sum(one.id, 'failed') || sum(other.id, 'sessions') - sum(one.id, 'sessions');
  return (
    <Section
      title="Agents"
      lead="Response times are those of the newest deployment, peak sessions those of the deployment that was nearest to its limit."
      actions={
        <Link
          to="/orgs/$organization/agents"
          params={{ organization }}
          className="text-accent text-sm underline-offset-4 hover:underline"
        >
          All agents
        </Link>
      }
    >
      <QueryBoundary query={agents}>
        {(data) => (
          <DataTable
            label={`Agents, ${periodLabels[period].toLowerCase()}`}
            rows={data.agents.toSorted(order)}
            rowKey={({ id }) => id}
            columns={[
              {
                title: 'Agent',
                cell: ({ name }) => (
                  <Link
                    to="/orgs/$organization/agents/$agent"
                    params={{ organization, agent: name }}
                    className="font-medium after:absolute after:inset-0"
                  >
                    {name}
                  </Link>
                ),
              },
              {
                title: 'Status',
                isOptional: true,
                cell: (agent) => (
                  <span className="flex gap-1.5">
                    <AgentBadges status={getAgentStatus(agent)} />
                  </span>
                ),
              },
              {
                title: 'Sessions',
                isNumber: true,
                isOptional: true,
                cell: ({ id }) => sum(id, 'sessions').toLocaleString('en'),
              },
              {
                title: 'Failed',
                isNumber: true,
                cell: ({ id }) => {
                  const failed = sum(id, 'failed');
                  return failed === 0 ? '0' : <span className="text-danger">{failed.toLocaleString('en')}</span>;
                },
              },
              {
                title: 'Median response',
                isNumber: true,
                cell: ({ id }) => {
                  const outcomes = newest(id);
                  return outcomes === undefined ? '–' : <MedianResponse {...outcomes} />;
                },
              },
              {
                title: 'Peak sessions',
                isNumber: true,
                cell: ({ id }) => <Peak deployments={deploymentsOf(id)} />,
              },
            ]}
          />
        )}
      </QueryBoundary>
    </Section>
  );
}

/** The highest number of sessions at the same time of the deployment that was nearest to its limit. */
function Peak({ deployments }: { readonly deployments: readonly DeploymentStatistics[] }) {
  const [busiest] = deployments.toSorted((one, other) => other.openAtMost / other.limit - one.openAtMost / one.limit);
  if (busiest === undefined || busiest.openAtMost === 0) return '–';
  const { openAtMost, limit } = busiest;
  return (
    <span className={openAtMost >= limit ? 'text-danger' : undefined}>
      {openAtMost.toLocaleString('en')} of {limit.toLocaleString('en')}
    </span>
  );
}
