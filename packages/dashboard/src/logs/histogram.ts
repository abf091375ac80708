import type { Operations, ResponseOf } from '@bothost/contract';
import { computePeriodStartSeconds } from '../components/period.ts';
import type { LogFilter } from './log-filter.ts';

export type Histogram = ResponseOf<Operations['getLogHistogram']>;

/** Returns how long a histogram is shown before it is read again. A histogram that reached a limit costs the service much time. */
export function chooseRefreshMs(histogram: Histogram | undefined): number {
  return histogram === undefined || histogram.countedFrom === null ? 15_000 : 120_000;
}

const barsAtMost = 150;

/**
 * Converts counts to bars without gaps, which cover the time of a filter. Bars of errors are drawn over those of all lines. Leaves
 * out the oldest time if there would be too many bars.
 */
export function createBars({ stepSeconds, intervals }: Histogram, { since, from, to }: LogFilter, readAtMs: number) {
  const known = new Map(intervals.map((interval) => [interval.at, interval]));
  const [first, last] = [intervals[0], intervals.at(-1)];
  const end = Math.max(to ?? readAtMs / 1_000, (last?.at ?? 0) + stepSeconds);
  const wanted = from ?? computePeriodStartSeconds(since, readAtMs) ?? first?.at ?? end - stepSeconds;
  const earliest = Math.max(wanted, end - barsAtMost * stepSeconds);
  const start = earliest - (earliest % stepSeconds);
  // The time after the last bar, at which it ends, has no bar.
  const count = Math.ceil((end - start) / stepSeconds) + 1;
  const times = Array.from({ length: count }, (_, index) => start + index * stepSeconds);
  const values = (read: (interval: Histogram['intervals'][number]) => number) =>
    times.map((at) => {
      const interval = known.get(at);
      return interval === undefined ? null : read(interval);
    });
  return {
    times,
    lines: values(({ lines }) => lines),
    warnings: values(({ warnings, errors }) => warnings + errors),
    errors: values(({ errors }) => errors),
    range: { from: start, to: start + (count - 1) * stepSeconds },
  };
}
