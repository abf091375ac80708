/** Nearest rank: the smallest value that at least `p` percent do not exceed. `sorted` is in ascending order. */
export function computeNearestRankPercentile(sorted: ArrayLike<number>, p: number): number {
  const rank = Math.max(1, Math.ceil((p / 100) * sorted.length));
  return sorted[rank - 1] ?? 0;
}

export type Percentiles = { readonly p50: number; readonly p90: number; readonly p95: number; readonly p99: number };

/** Returns the 50th, 90th, 95th and 99th percentiles of unsorted `values`, or null if there are none. */
export function computePercentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (p: number) => computeNearestRankPercentile(sorted, p);
  return { p50: at(50), p90: at(90), p95: at(95), p99: at(99) };
}
