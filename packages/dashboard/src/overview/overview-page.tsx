import type { Overview } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { classNames } from '../components/class-names.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { formatLatency } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';
import { defaultPeriod } from '../statistics/period.ts';
import { PeriodSwitch } from '../statistics/period-switch.tsx';
import { statisticsQuery } from '../statistics/queries.ts';
import { StatisticsCharts } from '../statistics/statistics-charts.tsx';
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
              <EmptyState icon={CircleCheck} title="Deploy your first bot">
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
      <Figures overview={overview} organization={organization} />
      <ProblemList organization={organization} period={period} attention={overview.attention} />
      <QueryBoundary query={statistics}>
        {(data) => <StatisticsCharts organization={organization} period={period} statistics={data} hasAgents />}
      </QueryBoundary>
      <div className="grid items-start gap-8 xl:grid-cols-2">
        <RecentSessions organization={organization} />
        <AgentTable organization={organization} period={period} statistics={statistics.data} />
      </div>
    </>
  );
}

function Figures({ overview, organization }: OverviewSectionsProps) {
  const { sessions, warmPool, starts, ends } = overview;
  const isFull = sessions.capacity > 0 && sessions.live >= sessions.capacity;
  const params = { organization };
  return (
    <dl className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Figure
        name="Live sessions"
        value={
          <Link to="/orgs/$organization/sessions" params={params} search={{ status: 'active' }} className={figureLink}>
            {sessions.live}
          </Link>
        }
        note={`of ${sessions.capacity} at the same time`}
      >
        <Meter share={sessions.capacity === 0 ? 0 : sessions.live / sessions.capacity} isBad={isFull} />
      </Figure>
      <Figure
        name="Warm pool"
        value={
          <Link to="/orgs/$organization/agents" params={params} className={figureLink}>
            {warmPool.ready}
          </Link>
        }
        note={`ready; ${warmPool.starting} starting, minimum ${warmPool.minimum}`}
      />
      <Figure
        name="Start latency, median"
        value={
          <Link to="/orgs/$organization/sessions" params={params} search={{ since: '1h' }} className={figureLink}>
            {starts.p50Ms === null ? '–' : formatLatency(starts.p50Ms)}
          </Link>
        }
        note={
          starts.p99Ms === null
            ? 'No starts in the last hour'
            : `p99 ${formatLatency(starts.p99Ms)}; ${starts.count} in the last hour, ${starts.cold} cold`
        }
      />
      <Figure
        name="Failed sessions"
        value={
          <Link
            to="/orgs/$organization/sessions"
            params={params}
            search={{ status: 'failed', since: '1h' }}
            className={figureLink}
          >
            {ends.failed}
          </Link>
        }
        note={`of ${ends.count} that ended in the last hour`}
        isBad={ends.failed > 0}
      />
    </dl>
  );
}

// The link's `::after` element covers the whole tile, so that a click anywhere in it opens the list.
const figureLink = 'after:absolute after:inset-0 after:rounded-2xl';

type FigureProps = {
  readonly name: string;
  readonly value: ReactNode;
  readonly note: string;
  readonly isBad?: boolean;
  readonly children?: ReactNode;
};

function Figure({ name, value, note, isBad = false, children }: FigureProps) {
  return (
    <div className="relative flex flex-col gap-1 rounded-2xl border border-line bg-surface px-5 py-4 hover:border-field">
      <dt className="text-quiet text-sm">{name}</dt>
      <dd className={classNames('font-semibold text-3xl tabular-nums tracking-tight', isBad && 'text-danger')}>
        {value}
      </dd>
      <dd className="text-quiet text-sm">{note}</dd>
      {children !== undefined && <dd className="pt-2">{children}</dd>}
    </div>
  );
}

/** A bar for a share from 0 to 1. Hidden from screen readers, because the text above the bar states the share. */
function Meter({ share, isBad }: { readonly share: number; readonly isBad: boolean }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
      <rect width="100" height="4" className="fill-line" />
      <rect width={Math.min(1, share) * 100} height="4" className={isBad ? 'fill-danger' : 'fill-accent'} />
    </svg>
  );
}
