/** A range of Unix times in seconds. */
export type ChartRange = { readonly from: number; readonly to: number };

/**
 * Narrows (`factor` below 1) or widens a range around its middle, within `whole`. Returns null, which means no zoom, if the
 * result covers more than 95 % of `whole`.
 */
export function zoomRange({ from, to }: ChartRange, factor: number, whole: ChartRange): ChartRange | null {
  const middle = (from + to) / 2;
  const half = Math.max(1, ((to - from) * factor) / 2);
  return clampRange({ from: middle - half, to: middle + half }, whole);
}

/** The part of a range within `whole`. Null, which means no zoom, if it covers more than 95 % of `whole`. */
export function clampRange({ from, to }: ChartRange, whole: ChartRange): ChartRange | null {
  const clamped = { from: Math.max(from, whole.from), to: Math.min(to, whole.to) };
  return clamped.to - clamped.from > 0.95 * (whole.to - whole.from) ? null : clamped;
}

/** Divides a range into `count` equal parts and counts the times in each part. */
export function countTimestampsPerInterval(
  times: readonly number[],
  { from, to }: ChartRange,
  count: number,
): number[] {
  const counts = new Array<number>(count).fill(0);
  const width = (to - from) / count;
  for (const time of times) {
    if (time < from || time > to || width <= 0) continue;
    const part = Math.min(count - 1, Math.floor((time - from) / width));
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}
