import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ChartRange } from '../components/chart-range.ts';
import { formatDateTime } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { SeriesChart } from '../components/series-chart.tsx';
import { createBars, type Histogram } from './histogram.ts';
import type { LogFilter } from './log-filter.ts';
import { logHistogramQuery } from './queries.ts';

type LogHistogramProps = {
  readonly organization: string;
  readonly agent: string | undefined;
  readonly filter: LogFilter;
  /** Called with a part of the time that the person selects or clicks. */
  readonly onRange: (range: ChartRange) => void;
};

const heightPixels = 110;

/** The number of lines over time by level. */
export function LogHistogram({ organization, agent, filter, onRange }: LogHistogramProps) {
  const query = useQuery(logHistogramQuery(organization, agent, filter));
  if (query.isPending) return <div style={{ height: heightPixels + 28 }} />;
  return (
    <QueryBoundary query={query}>
      {(histogram) => <Chart histogram={histogram} filter={filter} readAtMs={query.dataUpdatedAt} onRange={onRange} />}
    </QueryBoundary>
  );
}

type ChartProps = Pick<LogHistogramProps, 'filter' | 'onRange'> & {
  readonly histogram: Histogram;
  readonly readAtMs: number;
};

function Chart({ histogram, filter, readAtMs, onRange }: ChartProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const bars = useMemo(() => createBars(histogram, filter, readAtMs), [histogram, filter, readAtMs]);
  const { times, lines, warnings, errors, range } = bars;
  return (
    <>
      <SeriesChart
        title="Lines"
        times={times}
        range={range}
        series={[
          { label: 'All', color: 'accent', kind: 'bars', values: lines },
          { label: 'Warnings and errors', color: 'warning', kind: 'bars', values: warnings },
          { label: 'Errors', color: 'danger', kind: 'bars', values: errors },
        ]}
        marks={[]}
        format={formatWhole}
        group="log"
        atLeast={4}
        empty="No lines"
        hovered={hovered}
        onHover={setHovered}
        onSelect={(selected) => selected !== null && onRange(selected)}
        onPick={(index) => {
          const [from, to] = [times[index], times[index + 1]];
          if (from !== undefined && to !== undefined) onRange({ from, to });
        }}
        height={heightPixels}
      />
      {histogram.countedFrom !== null && (
        <p className="text-quiet text-sm">
          There are many lines: only those since {formatDateTime(new Date(histogram.countedFrom * 1_000))} are counted.
        </p>
      )}
    </>
  );
}

const formatWhole = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : '');
