import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { NothingWrong } from '../components/nothing-wrong.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { useMembership } from '../organization/organization.ts';
import { defaultPeriod } from '../statistics/period.ts';
import { PeriodSwitch } from '../statistics/period-switch.tsx';
import { groupProblems } from '../statistics/problem-group.ts';
import { ProblemRow } from '../statistics/problem-row.tsx';
import { problemsQuery, statisticsQuery } from '../statistics/queries.ts';
import { StatisticsCharts } from '../statistics/statistics-charts.tsx';
import { StatisticsTiles } from '../statistics/statistics-tiles.tsx';
import { AgentConditions } from './agent-conditions.tsx';
import { useAgent } from './agent-context.ts';
import { AgentStatus } from './agent-status.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/');

/** The page at `/orgs/:organization/agents/:agent`: how the bot is doing. */
export function AgentOverviewPage() {
  const { name: organization } = useMembership();
  const agent = useAgent();
  const { period = defaultPeriod } = route.useSearch();
  const statistics = useQuery(statisticsQuery(organization, period, agent.name));
  const problems = useQuery(problemsQuery(organization, period, agent.name));
  return (
    <div className="flex flex-col gap-6">
      <AgentConditions agent={agent} />
      <div className="flex justify-end">
        <PeriodSwitch period={period} />
      </div>
      <StatisticsTiles
        organization={organization}
        agent={agent.name}
        period={period}
        statistics={statistics.data}
        live={{
          sessions: agent.activeSessionCount,
          limit: agent.autoScaling.maxReplicas,
          warm: agent.idleInstanceCount,
          starting: agent.startingInstanceCount,
        }}
      />
      <Section title="Failed sessions by cause">
        <QueryBoundary query={problems}>
          {(data) => (
            <RowList
              label="Failed sessions by cause"
              firstRows={6}
              items={groupProblems(data.problems)}
              empty={<NothingWrong title="No session failed in this period" />}
            >
              {(problem) => (
                <ProblemRow
                  key={problem.id}
                  organization={organization}
                  period={period}
                  problem={problem}
                  hasAgents={false}
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <QueryBoundary query={statistics}>
        {(data) => (
          <StatisticsCharts organization={organization} period={period} statistics={data} agent={agent.name} />
        )}
      </QueryBoundary>
      <AgentStatus agent={agent} />
      <EquivalentShellCommand command={botcliCommands.showAgent(organization, agent.name)} />
    </div>
  );
}
