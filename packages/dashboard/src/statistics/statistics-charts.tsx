import { type DeploymentStatistics, formatCount, type Statistics, type StatisticsPeriod } from '@bothost/contract';
import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { DataTable, type TableColumn } from '../components/data-table.tsx';
import { formatDateTime, formatLatency } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { SeriesChart } from '../components/series-chart.tsx';
import { RelativeTime } from '../components/time.tsx';
import type { ChartColor } from '../components/time-chart.tsx';
import { nameAgent } from '../organization/agent-reference.ts';
import { describeCapacity } from './describe-capacity.ts';
import { periodLabels } from './period.ts';

const formatWhole = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : '');

type StatisticsChartsProps = {
  readonly organization: string;
  readonly period: StatisticsPeriod;
  readonly statistics: Statistics;
  /** Undefined: the figures are those of all agents. */
  readonly agent?: string;
};

/** Charts of sessions, start times, response times and capacity, with deployments as vertical lines. */
export function StatisticsCharts({ organization, period, statistics, agent }: StatisticsChartsProps) {
  const { points, stepSeconds, deployments } = statistics;
  const hasAgents = agent === undefined;
  const navigate = useNavigate();
  const sessionsAt = useCallback(
    (at: string) => {
      const from = Date.parse(at) / 1_000;
      const search = { agent, from, to: from + stepSeconds };
      return { to: '/orgs/$organization/sessions', params: { organization }, search } as const;
    },
    [organization, agent, stepSeconds],
  );
  const [hovered, setHovered] = useState<number | null>(null);
  const { times, marks, range, changes } = useMemo(() => {
    const starts = points.map(({ at }) => Date.parse(at) / 1_000);
    const from = starts[0] ?? 0;
    const listed = deployments.filter(({ at }) => Date.parse(at) / 1_000 >= from).toReversed();
    return {
      times: starts,
      range: { from, to: (starts.at(-1) ?? 0) + stepSeconds },
      changes: listed,
      // More lines would hide the figures.
      marks: listed.slice(0, listedChanges).map((one) => ({ at: Date.parse(one.at) / 1_000, color: markColor(one) })),
    };
  }, [points, stepSeconds, deployments]);
  const values = <Name extends keyof Statistics['points'][number]>(name: Name) => points.map((point) => point[name]);
  const onPick = (index: number) => {
    const picked = points[index];
    if (picked !== undefined) void navigate(sessionsAt(picked.at));
  };
  const shared = { times, marks, range, hovered, onHover: setHovered, group: 'statistics', onPick };
  const columns = [
    {
      title: 'From',
      cell: ({ at }: Point) => (
        <Link {...sessionsAt(at)} className="underline-offset-4 hover:underline">
          {formatDateTime(new Date(at))}
        </Link>
      ),
    },
    ...figureColumns,
  ];
  const point = hovered === null ? undefined : points[hovered];
  return (
    <Section
      title={periodLabels[period]}
      lead={
        point === undefined
          ? `${formatCount(statistics.total.sessions, 'session')}, ${statistics.total.failed.toLocaleString('en')} failed. Sessions are counted when they are created. Click a chart to open the sessions of a bar.`
          : formatDateTime(new Date(point.at))
      }
      help="conversations#turns-and-response-times"
    >
      <div className="grid gap-x-10 gap-y-8 px-5 py-5 sm:px-6 lg:grid-cols-2">
        <SeriesChart
          {...shared}
          title="Sessions"
          series={[
            { label: 'All', color: 'accent', kind: 'bars', values: values('sessions') },
            { label: 'Failed', color: 'danger', kind: 'bars', values: values('failed') },
          ]}
          format={formatWhole}
          atLeast={4}
          empty="No sessions"
        />
        <SeriesChart
          {...shared}
          title="Capacity"
          series={[
            { label: 'Sessions at the same time', color: 'accent', kind: 'area', values: values('openAtMost') },
            { label: 'Limit', color: 'danger', kind: 'steps', values: values('limit') },
          ]}
          note={describeCapacity(statistics, hasAgents, new Date())}
          format={formatWhole}
          atLeast={4}
          empty="No sessions"
        />
        <SeriesChart
          {...shared}
          title="Start time"
          series={[
            { label: 'Median', color: 'accent', kind: 'line', values: values('startP50Ms') },
            { label: 'p95', color: 'warning', kind: 'line', values: values('startP95Ms') },
          ]}
          format={formatLatency}
          atLeast={100}
          empty="No bot started in this period"
        />
        <SeriesChart
          {...shared}
          title="Response time"
          series={[
            { label: 'Median', color: 'accent', kind: 'line', values: values('responseP50Ms') },
            { label: 'p95', color: 'warning', kind: 'line', values: values('responseP95Ms') },
          ]}
          format={formatLatency}
          atLeast={100}
          empty="No measured responses in this period"
        />
      </div>
      {changes.length > 0 && (
        <DeploymentChanges organization={organization} deployments={changes} hasAgents={hasAgents} />
      )}
      <details className="group border-line border-t">
        <summary className="flex cursor-pointer list-none items-center gap-1 px-5 py-3 text-quiet text-sm hover:text-foreground sm:px-6">
          <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
          The charts as a table
        </summary>
        <DataTable
          label="Figures over time"
          columns={columns}
          rows={points}
          rowKey={({ at }) => at}
          className="max-h-96 border-line border-t"
        />
      </details>
    </Section>
  );
}

type Point = Statistics['points'][number];

const latencyColumn = (title: string, name: keyof Point & `${string}Ms`): TableColumn<Point> => ({
  title,
  isNumber: true,
  cell: (point) => {
    const value = point[name];
    return value === null ? '–' : formatLatency(value);
  },
});
const countColumn = (title: string, name: 'sessions' | 'failed' | 'openAtMost' | 'limit'): TableColumn<Point> => ({
  title,
  isNumber: true,
  cell: (point) => point[name],
});

const figureColumns: readonly TableColumn<Point>[] = [
  countColumn('Sessions', 'sessions'),
  countColumn('Failed', 'failed'),
  countColumn('At the same time', 'openAtMost'),
  countColumn('Limit', 'limit'),
  latencyColumn('Start median', 'startP50Ms'),
  latencyColumn('Start p95', 'startP95Ms'),
  latencyColumn('Response median', 'responseP50Ms'),
  latencyColumn('Response p95', 'responseP95Ms'),
];

/** How many deployments have a line in the charts and are listed below them, the newest. */
const listedChanges = 8;

type DeploymentChangesProps = {
  readonly organization: string;
  readonly deployments: readonly DeploymentStatistics[];
  readonly hasAgents: boolean;
};

function DeploymentChanges({ organization, deployments, hasAgents }: DeploymentChangesProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-t px-5 py-3 text-sm sm:px-6">
      <h3 className="text-quiet">Deployments, the vertical lines:</h3>
      <ul className="contents">
        {deployments.slice(0, listedChanges).map((deployment) => (
          <li key={deployment.deploymentId} className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className={`h-3.5 border-l-2 ${markBorders[markColor(deployment)]}`} />
            {deployment.agentDeleted ? (
              <span>
                {nameAgent(deployment)}, <RelativeTime at={deployment.at} />
              </span>
            ) : (
              <Link
                to="/orgs/$organization/agents/$agent/deployments/$deployment"
                params={{ organization, agent: deployment.agentName, deployment: deployment.deploymentId }}
                className="underline-offset-4 hover:underline"
              >
                {hasAgents ? deployment.agentName : deployment.deploymentId.slice(-6)},{' '}
                <RelativeTime at={deployment.at} />
              </Link>
            )}
            {deployment.state === 'failed' && <span className="text-danger">failed</span>}
          </li>
        ))}
      </ul>
      {deployments.length > listedChanges && (
        <span className="text-quiet">and {deployments.length - listedChanges} earlier ones, without a line</span>
      )}
    </div>
  );
}

function markColor({ state }: DeploymentStatistics): 'danger' | 'quiet' {
  return state === 'failed' ? 'danger' : 'quiet';
}

const markBorders = { danger: 'border-danger', quiet: 'border-quiet' } as const satisfies Partial<
  Record<ChartColor, string>
>;
