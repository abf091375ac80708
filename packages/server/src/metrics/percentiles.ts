/**
 * Nearest-rank percentile: the smallest value such that at least `p` percent of the values do not exceed it. `sorted` is
 * ascending and not empty.
 */
export function nearestRankPercentile(sorted: ArrayLike<number>, p: number): number {
  const rank = Math.max(1, Math.ceil((p / 100) * sorted.length));
  return sorted[rank - 1] ?? 0;
}

export type Percentiles = { readonly p50: number; readonly p90: number; readonly p95: number; readonly p99: number };

/** Four computePercentiles of `values`, which may be in any order. Null if there are no values. */
export function computePercentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (p: number) => nearestRankPercentile(sorted, p);
  return { p50: at(50), p90: at(90), p95: at(95), p99: at(99) };
}
