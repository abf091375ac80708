import { formatBytes, type LogLine, type ResourceMetrics, type SessionEvent } from '@bothost/contract';
import { RotateCcw, ZoomIn, ZoomOut } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Button } from '../components/button.tsx';
import { type ChartRange, clampRange, countTimestampsPerInterval, zoomRange } from '../components/chart-range.ts';
import { formatTimeOfDay } from '../components/format.ts';
import { type ChartColor, type ChartSeries, TimeChart } from '../components/time-chart.tsx';
import { toUnixSeconds } from '../logs/log-time.ts';

const percentiles = [
  ['p50', 'P50', 'good'],
  ['p90', 'P90', 'quiet'],
  ['p95', 'P95', 'warning'],
  ['p99', 'P99', 'danger'],
] as const satisfies readonly (readonly [string, string, ChartColor])[];
const parts = 60;
const mebibyte = 1_048_576;

const formatCpu = (millicores: number) =>
  `${(millicores / 1_000).toLocaleString('en', { maximumSignificantDigits: 2 })} CPU`;

type SessionChartsProps = {
  readonly metrics: ResourceMetrics | null;
  /** Whether the region records CPU and memory. */
  readonly readsUsage: boolean;
  readonly events: readonly SessionEvent[];
  readonly lines: readonly LogLine[];
  /** The range from the creation of the session to its end, or to the present while the session is active. */
  readonly whole: ChartRange;
  /** The zoomed part of the range. Null shows the whole range. */
  readonly part: ChartRange | null;
  readonly onPart: (part: ChartRange | null) => void;
  /** Lanes above the charts, on the same time axis. */
  readonly children?: ReactNode;
};

/** Charts of the CPU use, the memory and the output of a session, with its events, on one time axis. */
export function SessionCharts({
  metrics,
  readsUsage,
  events,
  lines,
  whole,
  part,
  onPart,
  children,
}: SessionChartsProps) {
  const range = part ?? whole;
  const [hovered, setHovered] = useState<number | null>(null);
  const marks = useMemo(
    () => events.map(({ eventTs }) => ({ at: Date.parse(eventTs) / 1000, color: 'warning' as const })),
    [events],
  );
  const usage = useMemo(() => usageSeries(metrics), [metrics]);
  const output = useMemo(() => outputSeries(lines, range), [lines, range]);
  const group = `session ${metrics?.sessionId}`;
  const sample = hovered === null ? undefined : metrics?.timeseries[hovered];
  const onSelect = (selected: ChartRange | null) => onPart(selected === null ? null : clampRange(selected, whole));
  const shared = { marks, range, group, onSelect };
  return (
    <div className="flex flex-col gap-5 p-4 sm:p-6">
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto text-quiet text-sm tabular-nums">
          {sample === undefined
            ? 'Drag over a chart to zoom in, double-click to zoom out.'
            : `${formatTimeOfDay(new Date(sample.t * 1000))}: ${formatCpu(sample.c)}, ${formatBytes(sample.m)}`}
        </p>
        <Button
          variant="outline"
          size="small"
          onClick={() => onPart(zoomRange(range, 0.5, whole))}
          aria-label="Zoom in"
        >
          <ZoomIn aria-hidden="true" className="size-4" />
        </Button>
        <Button
          variant="outline"
          size="small"
          onClick={() => onPart(zoomRange(range, 2, whole))}
          disabled={part === null}
          aria-label="Zoom out"
        >
          <ZoomOut aria-hidden="true" className="size-4" />
        </Button>
        <Button variant="outline" size="small" onClick={() => onPart(null)} disabled={part === null}>
          <RotateCcw aria-hidden="true" className="size-4" />
          Show all
        </Button>
      </div>
      {children}
      {metrics === null ? (
        <p className="text-quiet text-sm">
          {readsUsage
            ? 'No CPU or memory is recorded for this session.'
            : 'This region does not record CPU and memory.'}
        </p>
      ) : (
        <>
          <Chart title="CPU" values={usage.cpuPercentiles} format={formatCpu}>
            <TimeChart
              {...shared}
              label={describe('CPU over time', usage.cpuPercentiles, formatCpu)}
              times={usage.times}
              series={usage.cpu}
              levels={usage.cpuLevels}
              format={formatCpu}
              height={96}
              atLeast={10}
              onHover={setHovered}
            />
          </Chart>
          <Chart title="Memory" values={usage.memoryPercentiles} format={formatBytes}>
            <TimeChart
              {...shared}
              label={describe('Memory over time', usage.memoryPercentiles, formatBytes)}
              times={usage.times}
              series={usage.memory}
              levels={usage.memoryLevels}
              format={(value) => `${value} MiB`}
              height={96}
              atLeast={1}
            />
          </Chart>
        </>
      )}
      <Chart title="Lines of output, warnings and errors in red; events as vertical lines">
        <TimeChart
          {...shared}
          label={`${lines.length} lines of output and ${events.length} events over time`}
          times={output.times}
          series={output.series}
          format={(value) => (Number.isInteger(value) ? String(value) : '')}
          height={96}
          atLeast={4}
          hasTimeAxis
        />
      </Chart>
    </div>
  );
}

type ChartProps = {
  readonly title: string;
  readonly values?: readonly (readonly [name: string, color: ChartColor, value: number])[];
  readonly format?: (value: number) => string;
  readonly children: ReactNode;
};

const swatches: Readonly<Record<ChartColor, string>> = {
  accent: 'border-accent',
  good: 'border-good',
  danger: 'border-danger',
  warning: 'border-warning',
  quiet: 'border-quiet',
};

function Chart({ title, values = [], format = String, children }: ChartProps) {
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-baseline gap-x-5 gap-y-1">
        <span className="mr-auto font-medium text-sm max-sm:w-full">{title}</span>
        {values.map(([name, color, value]) => (
          <span key={name} className="inline-flex items-center gap-1.5 text-quiet text-xs tabular-nums">
            <span aria-hidden="true" className={`w-4 border-t-2 border-dashed ${swatches[color]}`} />
            {name} {format(value)}
          </span>
        ))}
      </figcaption>
      {children}
    </figure>
  );
}

function describe(
  what: string,
  values: ReturnType<typeof usageSeries>['cpuPercentiles'],
  format: (value: number) => string,
) {
  return `${what}. ${values.map(([name, , value]) => `${name} ${format(value)}`).join(', ')}.`;
}

function usageSeries(metrics: ResourceMetrics | null) {
  const samples = metrics?.timeseries ?? [];
  const percentilesOf = (prefix: 'cpuMillicores' | 'memoryBytes') =>
    percentiles.map(([name, suffix, color]) => [name, color, metrics?.[`${prefix}${suffix}`] ?? 0] as const);
  const cpuPercentiles = percentilesOf('cpuMillicores');
  const memoryPercentiles = percentilesOf('memoryBytes');
  const cpu: ChartSeries = { label: 'CPU', color: 'accent', kind: 'area', values: samples.map(({ c }) => c) };
  // Convert to MiB, so that the ticks of the axis are round numbers.
  const mebibytes = samples.map(({ m }) => m / mebibyte);
  const memory: ChartSeries = { label: 'Memory', color: 'accent', kind: 'area', values: mebibytes };
  return {
    times: samples.map(({ t }) => t),
    cpu: [cpu],
    memory: [memory],
    cpuPercentiles,
    memoryPercentiles,
    cpuLevels: cpuPercentiles.map(([, color, value]) => ({ color, value })),
    memoryLevels: memoryPercentiles.map(([, color, value]) => ({ color, value: value / mebibyte })),
  };
}

const badLevels: readonly (string | null)[] = ['WARNING', 'ERROR', 'CRITICAL'];

function outputSeries(lines: readonly LogLine[], range: ChartRange) {
  const width = (range.to - range.from) / parts;
  const count = (some: readonly LogLine[]) =>
    countTimestampsPerInterval(
      some.map(({ timestamp }) => toUnixSeconds(timestamp)),
      range,
      parts,
    );
  const bad = lines.filter(({ level }) => badLevels.includes(level));
  const series: ChartSeries[] = [
    { label: 'Lines', color: 'quiet', kind: 'bars', values: count(lines) },
    { label: 'Warnings and errors', color: 'danger', kind: 'bars', values: count(bad) },
  ];
  return { times: Array.from({ length: parts }, (_, index) => range.from + index * width), series };
}
