import type { Overview } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
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
import { AttentionList } from './attention-list.tsx';
import { overviewQuery } from './queries.ts';

/** The page at `/orgs/:organization`: running sessions, start times, and problems that need attention. */
export function OverviewPage() {
  const { name: organization } = useMembership();
  const overview = useQuery(overviewQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader title="Overview" lead="What runs now, and how the last hour went." />
      <QueryBoundary query={overview}>
        {(data) =>
          data.agentCount === 0 ? (
            <Section>
              <EmptyState icon={CircleCheck} title="Deploy your first bot">
                <FirstDeploy />
              </EmptyState>
            </Section>
          ) : (
            <Figures overview={data} organization={organization} />
          )
        }
      </QueryBoundary>
      <EquivalentShellCommand command={formatCurlCommand('getOverview', { origin: location.origin, organization })} />
    </div>
  );
}

function Figures({ overview, organization }: { readonly overview: Overview; readonly organization: string }) {
  const { sessions, warmPool, starts, ends, attention } = overview;
  const isFull = sessions.capacity > 0 && sessions.live >= sessions.capacity;
  return (
    <>
      <dl className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <Figure name="Live sessions" value={sessions.live} note={`of ${sessions.capacity} at the same time`}>
          <Meter share={sessions.capacity === 0 ? 0 : sessions.live / sessions.capacity} isBad={isFull} />
        </Figure>
        <Figure
          name="Warm pool"
          value={warmPool.ready}
          note={`ready; ${warmPool.starting} starting, minimum ${warmPool.minimum}`}
        />
        <Figure
          name="Start latency, median"
          value={starts.p50Ms === null ? '–' : formatLatency(starts.p50Ms)}
          note={
            starts.p99Ms === null
              ? 'No starts in the last hour'
              : `p99 ${formatLatency(starts.p99Ms)}; ${starts.count} in the last hour, ${starts.cold} cold`
          }
        />
        <Figure
          name="Failed sessions"
          value={ends.failed}
          note={`of ${ends.count} that ended in the last hour`}
          isBad={ends.failed > 0}
        />
      </dl>
      <Section title="Needs attention" lead="Problems of agents, with their cause and what to do next.">
        <AttentionList attention={attention} organization={organization} />
      </Section>
    </>
  );
}

type FigureProps = {
  readonly name: string;
  readonly value: ReactNode;
  readonly note: string;
  readonly isBad?: boolean;
  readonly children?: ReactNode;
};

function Figure({ name, value, note, isBad = false, children }: FigureProps) {
  return (
    <div className="flex flex-col gap-1 rounded-2xl border border-line bg-surface px-5 py-4">
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
