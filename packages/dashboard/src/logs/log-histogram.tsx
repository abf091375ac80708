import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ChartRange } from '../components/chart-range.ts';
import { formatDateTime } from '../components/format.ts';
import { SeriesChart } from '../components/series-chart.tsx';
import { createBars } from './histogram.ts';
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
  const { data, dataUpdatedAt } = useQuery(logHistogramQuery(organization, agent, filter));
  const [hovered, setHovered] = useState<number | null>(null);
  const bars = useMemo(
    () => (data === undefined ? null : createBars(data, filter, dataUpdatedAt)),
    [data, filter, dataUpdatedAt],
  );
  if (data === undefined || bars === null) return <div style={{ height: heightPixels + 28 }} />;
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
        empty="No line matches"
        hovered={hovered}
        onHover={setHovered}
        onSelect={(selected) => selected !== null && onRange(selected)}
        onPick={(index) => {
          const [from, to] = [times[index], times[index + 1]];
          if (from !== undefined && to !== undefined) onRange({ from, to });
        }}
        height={heightPixels}
      />
      {data.countedFrom !== null && (
        <p className="text-quiet text-sm">
          There are many lines: only those since {formatDateTime(new Date(data.countedFrom * 1_000))} are counted.
        </p>
      )}
    </>
  );
}

const formatWhole = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : '');
