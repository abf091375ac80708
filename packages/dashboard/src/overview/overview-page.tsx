import type { Overview } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';
import { defaultPeriod } from '../statistics/period.ts';
import { PeriodSwitch } from '../statistics/period-switch.tsx';
import { statisticsQuery } from '../statistics/queries.ts';
import { StatisticsCharts } from '../statistics/statistics-charts.tsx';
import { StatisticsTiles } from '../statistics/statistics-tiles.tsx';
import { AgentTable } from './agent-table.tsx';
import { ProblemList } from './problem-list.tsx';
import { overviewQuery } from './queries.ts';
import { RecentSessions } from './recent-sessions.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/');

/** The page at `/orgs/:organization`: what runs, how the last hour, day or week went, and what needs attention. */
export function OverviewPage() {
  const { name: organization } = useMembership();
  const { period = defaultPeriod } = route.useSearch();
  const overview = useQuery(overviewQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader
        title="Overview"
        lead="What runs now, how it went, and what needs attention."
        actions={<PeriodSwitch period={period} />}
      />
      <QueryBoundary query={overview}>
        {(data) =>
          data.agentCount === 0 ? (
            <Section>
              <EmptyState icon={Bot} title="Deploy your first bot">
                <FirstDeploy />
              </EmptyState>
            </Section>
          ) : (
            <OverviewSections overview={data} organization={organization} />
          )
        }
      </QueryBoundary>
      <EquivalentShellCommand command={formatCurlCommand('getOverview', { origin: location.origin, organization })} />
    </div>
  );
}

type OverviewSectionsProps = { readonly overview: Overview; readonly organization: string };

function OverviewSections({ overview, organization }: OverviewSectionsProps) {
  const { period = defaultPeriod } = route.useSearch();
  const statistics = useQuery(statisticsQuery(organization, period));
  return (
    <>
      <StatisticsTiles
        organization={organization}
        period={period}
        statistics={statistics.data}
        live={{
          sessions: overview.sessions.live,
          limit: overview.sessions.capacity,
          warm: overview.warmPool.ready,
          starting: overview.warmPool.starting,
        }}
      />
      <ProblemList organization={organization} period={period} attention={overview.attention} />
      <QueryBoundary query={statistics}>
        {(data) => (
          <>
            <StatisticsCharts organization={organization} period={period} statistics={data} />
            <AgentTable organization={organization} period={period} statistics={data} />
          </>
        )}
      </QueryBoundary>
      <RecentSessions organization={organization} />
    </>
  );
}
