/** Returns the nearest-rank quantile (0 to 1) of values in any order, or NaN if there are none. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of differences, and its 95 % confidence interval. Student's t is that of 20 values; fewer have a wider interval. */
export function estimateMean(differences: readonly number[]): Estimate {
  const center = mean(differences);
  const variance = differences.reduce((sum, value) => sum + (value - center) ** 2, 0) / (differences.length - 1);
  const margin = 2.09 * Math.sqrt(variance / differences.length);
  return { mean: center, low: center - margin, high: center + margin };
}

export type Estimate = { readonly mean: number; readonly low: number; readonly high: number };

export const interquartileRange = (values: readonly number[]): number =>
  quantile(values, 0.75) - quantile(values, 0.25);
