/** Formats a size in units of 10^6 bytes, as the pages of models do. */
export function formatMegabytes(megabytes: number): string {
  return megabytes < 1000 ? `${megabytes} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}
