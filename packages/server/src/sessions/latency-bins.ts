/**
 * A histogram of latencies: the number of sessions per bin. Bin `n` contains the latencies around `1.15 ** n` milliseconds, so that
 * the latency of a bin differs by at most 8 % from those in it. Histograms can be added, unlike percentiles.
 */
export type LatencyHistogram = ReadonlyMap<number, number>;

const base = 1.15;

/** Returns the SQL expression of the bin of a latency, given the expression of its milliseconds. Null for null. */
export function latencyBinSql(milliseconds: string): string {
  // Not `greatest`, which ignores null.
  return `case when ${milliseconds} < 1 then 0 else round(ln((${milliseconds})::float8) / ln(${base}::float8)) end::int`;
}

/** Returns the percentile of a histogram in milliseconds, by nearest rank. `share` is from 0 to 1. Null if it is empty. */
export function computePercentileMs(histogram: LatencyHistogram, share: number): number | null {
  const bins = [...histogram].sort(([one], [other]) => one - other);
  const rank = share * bins.reduce((total, [, count]) => total + count, 0);
  let counted = 0;
  for (const [bin, count] of bins) {
    counted += count;
    if (counted >= rank) return Math.round(base ** bin);
  }
  return null;
}
