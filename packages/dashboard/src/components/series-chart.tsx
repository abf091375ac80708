import { lazy, Suspense } from 'react';
import type { ChartRange } from './chart-range.ts';
import type { ChartColor, ChartMarker, ChartSeries } from './time-chart.tsx';

// The chart library is large, so it is loaded when the first chart is shown.
const TimeChart = lazy(() => import('./time-chart.tsx').then(({ TimeChart: component }) => ({ default: component })));

type SeriesChartProps = {
  readonly title: string;
  /** The time of each value, in Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly marks: readonly ChartMarker[];
  readonly range: ChartRange;
  readonly format: (value: number) => string;
  /** Charts with the same group share a crosshair. */
  readonly group: string;
  /** The value axis reaches at least this value, even if all values are lower. */
  readonly atLeast: number;
  /** Shown instead of a chart if no series has a value. */
  readonly empty: string;
  /** Index in `times` under the crosshair, whose values the legend shows. */
  readonly hovered: number | null;
  readonly onHover: (index: number | null) => void;
  /** Called with the range that a person selects with the pointer, and with null after a double click. */
  readonly onSelect?: (range: ChartRange | null) => void;
  /** Called with the index in `times` that a person clicks. */
  readonly onPick?: (index: number) => void;
  readonly height?: number;
  /** Explains the chart, below it. */
  readonly note?: string | undefined;
};

/** A chart over time with its title and a legend. */
export function SeriesChart({ title, series, empty, hovered, height = 150, note, ...chart }: SeriesChartProps) {
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="mr-auto font-medium text-sm">{title}</span>
        {!isEmpty &&
          series.map(({ label, color, values }) => (
            <span key={label} className="inline-flex items-center gap-1.5 text-quiet text-xs tabular-nums">
              <span aria-hidden="true" className={`h-2 w-2 rounded-full ${swatches[color]}`} />
              {label}
              {hovered !== null && <ValueAt value={values[hovered]} format={chart.format} />}
            </span>
          ))}
      </figcaption>
      {isEmpty ? (
        <p
          className="flex items-center justify-center rounded-lg border border-line border-dashed text-quiet text-sm"
          style={{ height }}
        >
          {empty}
        </p>
      ) : (
        <Suspense fallback={<div style={{ height }} />}>
          <TimeChart
            {...chart}
            series={series}
            label={`${title} over time. ${series.map((one) => describe(one, chart.format)).join(' ')}`}
            height={height}
            hasTimeAxis
          />
        </Suspense>
      )}
      {note !== undefined && <p className="text-quiet text-xs">{note}</p>}
    </figure>
  );
}

const swatches: Readonly<Record<ChartColor, string>> = {
  accent: 'bg-accent',
  good: 'bg-good',
  danger: 'bg-danger',
  warning: 'bg-warning',
  quiet: 'bg-quiet',
};

type ValueAtProps = { readonly value: number | null | undefined; readonly format: (value: number) => string };

function ValueAt({ value, format }: ValueAtProps) {
  return <span className="font-medium text-foreground">{value == null ? '–' : format(value)}</span>;
}

function describe({ label, values }: ChartSeries, format: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  return `${label}: ${format(Math.min(...known))} to ${format(Math.max(...known))}, last ${format(known.at(-1) ?? 0)}.`;
}
