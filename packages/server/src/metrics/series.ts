import { timeSeriesPointLimits } from '@bothost/contract';

/** The usage in one second. `t` is in Unix seconds, CPU in millicores, memory in bytes. */
export type Sample = readonly [t: number, cpuMillicores: number, memoryBytes: number];

export type SeriesPoint = { t: number; c: number; m: number };

/** Mean CPU and highest memory per step of 5 s, or of a multiple of 5 s if there would be more than 720 points. */
export function computeSeries(samples: readonly Sample[]): SeriesPoint[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return [];
  const step = stepFor(last[0] - first[0]);
  const points: SeriesPoint[] = [];
  let cpu = 0;
  let count = 0;
  for (const [t, c, m] of samples) {
    const start = first[0] + Math.floor((t - first[0]) / step) * step;
    let point = points.at(-1);
    if (point === undefined || point.t !== start) {
      point = { t: start, c: 0, m: 0 };
      points.push(point);
      cpu = 0;
      count = 0;
    }
    cpu += c;
    count += 1;
    point.c = Math.round(cpu / count);
    point.m = Math.max(point.m, m);
  }
  return points;
}

function stepFor(seconds: number): number {
  const { stepSeconds, maximum } = timeSeriesPointLimits;
  const steps = Math.ceil((seconds + 1) / stepSeconds / maximum);
  return stepSeconds * Math.max(1, steps);
}
