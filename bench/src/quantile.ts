/** Returns the nearest-rank quantile (0 to 1) of values in any order, or NaN if there are none. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const interquartileRange = (values: readonly number[]): number =>
  quantile(values, 0.75) - quantile(values, 0.25);
