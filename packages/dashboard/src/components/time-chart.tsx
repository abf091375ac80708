import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { getCurrentTheme, watchTheme } from '../theme.ts';
import type { ChartRange } from './chart-range.ts';
import { formatTimeOfDay } from './format.ts';

/** The name of a color variable of `app.css`, such as `accent`. */
export type ChartColor = 'accent' | 'good' | 'danger' | 'warning' | 'quiet';

export type ChartSeries = {
  readonly label: string;
  readonly color: ChartColor;
  /** Null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** `bars` draws one bar per value, `area` a filled line, `steps` a line that keeps each value until the next. */
  readonly kind: 'bars' | 'area' | 'line' | 'steps';
};

/** A horizontal line across the chart, at `value` on the value axis. */
export type ChartReferenceLine = { readonly value: number; readonly color: ChartColor };

export type ChartMarker = { readonly at: number; readonly color: ChartColor };

type TimeChartProps = {
  /** Describes the chart for screen readers. */
  readonly label: string;
  /** The time of each value, in Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly levels?: readonly ChartReferenceLine[];
  /** Times at which the chart draws a vertical line. */
  readonly marks: readonly ChartMarker[];
  readonly range: ChartRange;
  readonly format: (value: number) => string;
  /** Charts with the same group share a crosshair. */
  readonly group: string;
  readonly height: number;
  /** The value axis reaches at least this value, even if all values are lower. */
  readonly atLeast: number;
  readonly hasTimeAxis?: boolean;
  /** Called with the range that a person selects with the pointer, and with null after a double click. */
  readonly onSelect?: (range: ChartRange | null) => void;
  /** Called with the index in `times` that a person clicks. */
  readonly onPick?: (index: number) => void;
  /** Called with the index in `times` under the crosshair, or with null when the pointer leaves the chart. */
  readonly onHover?: (index: number | null) => void;
};

/** A chart over time, drawn on a canvas. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, levels, marks, range } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useSyncExternalStore(watchTheme, getCurrentTheme);
  const select = useEffectEvent((selected: ChartRange | null) => props.onSelect?.(selected));
  const kinds = series.map(({ kind, color }) => `${kind} ${color}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart keeps the colors and kinds of series of its creation
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const created = new uPlot(
      chartOptions(() => latest.current, element.clientWidth, select),
      dataOf(latest.current),
      element,
    );
    chart.current = created;
    const resizes = new ResizeObserver(() => {
      if (element.clientWidth !== created.width)
        created.setSize({ width: element.clientWidth, height: latest.current.height });
    });
    resizes.observe(element);
    return () => {
      resizes.disconnect();
      created.destroy();
      chart.current = null;
    };
  }, [theme, kinds]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of any of these is drawn
  useEffect(() => {
    chart.current?.setData(dataOf(latest.current));
  }, [times, series, levels, marks, range.from, range.to]);

  const cursor = props.onPick === undefined ? '' : 'cursor-pointer';
  return (
    <div ref={place} role="img" aria-label={label} style={{ height: props.height }} className={`w-full ${cursor}`} />
  );
}

function dataOf({ times, series }: TimeChartProps): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function chartOptions(
  props: () => TimeChartProps,
  width: number,
  onSelect: (range: ChartRange | null) => void,
): uPlot.Options {
  const { group, height, hasTimeAxis = false, format, series, onSelect: isSelectable } = props();
  const style = getComputedStyle(document.documentElement);
  const color = (name: ChartColor | 'line') => style.getPropertyValue(`--ui-${name}`);
  const grid = { stroke: color('line'), width: 1 };
  const axis = { stroke: color('quiet'), font: '12px system-ui, sans-serif', grid, ticks: { show: false } };
  return {
    width,
    height,
    padding: [8, 28, hasTimeAxis ? 0 : 8, 0],
    legend: { show: false },
    cursor: {
      sync: { key: group },
      drag: { x: isSelectable !== undefined, y: false, setScale: false },
      points: { size: 7 },
    },
    scales: {
      x: {
        time: true,
        range: () => {
          const { range } = props();
          return [range.from, range.to];
        },
      },
      y: { range: (_, __, most) => [0, Math.max(most ?? 0, highest(props())) * 1.08] },
    },
    axes: [
      { ...axis, incrs: tickSeconds, size: hasTimeAxis ? 28 : 0, values: hasTimeAxis ? timeLabels : () => [] },
      { ...axis, size: 64, space: 28, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...series.map(({ color: name, kind, label }, index) => ({
        label,
        stroke: color(name),
        width: 1.5,
        // Show dots if all values are single ones, because a line needs two points.
        points: { show: (self: uPlot) => (kind === 'area' || kind === 'line') && isLonely(self, index + 1) },
        ...seriesStyle(kind, color(name)),
      })),
    ],
    hooks: {
      setSelect: [
        (self) => {
          if (self.select.width < 4) return;
          const { left, width: selected } = self.select;
          onSelect({ from: self.posToVal(left, 'x'), to: self.posToVal(left + selected, 'x') });
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [(self) => props().onHover?.(indexAtCursor(self, props()))],
      draw: [(self) => drawMarks(self, props().marks, color), (self) => drawLevels(self, props().levels ?? [], color)],
      ready: [
        (self) => {
          self.over.addEventListener('dblclick', () => onSelect(null));
          self.over.addEventListener('click', () => {
            const index = indexAtCursor(self, props());
            if (index !== null) props().onPick?.(index);
          });
        },
      ],
    },
  };
}

/** Returns the index of the bar under the cursor. A bar begins at its time. In other charts, returns that of the nearest time. */
function indexAtCursor({ cursor, posToVal }: uPlot, { times, series }: TimeChartProps): number | null {
  const { idx: nearest = null, left = 0 } = cursor;
  if (nearest === null || series.some(({ kind }) => kind !== 'bars')) return nearest;
  return (times[nearest] ?? 0) > posToVal(left, 'x') ? nearest - 1 : nearest;
}

function seriesStyle(kind: ChartSeries['kind'], color: string): Partial<uPlot.Series> {
  const { bars, stepped } = uPlot.paths;
  switch (kind) {
    case 'bars':
      return bars === undefined ? {} : { paths: bars({ size: [0.9, 40], align: 1 }), fill: color, width: 0 };
    case 'area':
      return { fill: `color-mix(in oklab, ${color} 22%, transparent)` };
    case 'steps':
      return stepped === undefined ? {} : { paths: stepped({ align: 1 }), dash: [5, 4] };
    case 'line':
      return {};
  }
}

/** Whether no two adjacent values of a series are present. */
function isLonely({ data }: uPlot, index: number): boolean {
  const values = data[index] ?? [];
  return !Array.from(values).some((value, position) => value != null && values[position + 1] != null);
}

function highest({ levels = [], atLeast }: TimeChartProps): number {
  return Math.max(atLeast, ...levels.map(({ value }) => value));
}

function drawLevels(
  { ctx, bbox, valToPos }: uPlot,
  levels: readonly ChartReferenceLine[],
  color: (name: ChartColor) => string,
): void {
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const level of levels) {
    const y = Math.round(valToPos(level.value, 'y', true)) + 0.5;
    ctx.strokeStyle = color(level.color);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}

function drawMarks(
  { ctx, bbox, valToPos, scales }: uPlot,
  marks: readonly ChartMarker[],
  color: (name: ChartColor) => string,
) {
  const { min = null, max = null } = scales['x'] ?? {};
  if (min === null || max === null) return;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  // The chart library leaves the dashes of the last series set.
  ctx.setLineDash([]);
  for (const mark of marks) {
    if (mark.at < min || mark.at > max) continue;
    const x = Math.round(valToPos(mark.at, 'x', true)) + 0.5;
    ctx.strokeStyle = color(mark.color);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Possible intervals between ticks of the time axis, in seconds. */
const tickSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400];

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

function timeLabels(_: uPlot, ticks: number[], __: number, ___: number, increment: number): string[] {
  return ticks.map((tick) => {
    const at = new Date(tick * 1000);
    if (increment >= 3_600 && at.getHours() === 0 && at.getMinutes() === 0) return day.format(at);
    return increment < 60 ? formatTimeOfDay(at) : clock.format(at);
  });
}
