const bars = '▁▂▃▄▅▆▇█';

/**
 * Draws a series as a line of at most `width` bars. Each bar shows the maximum of its part of the series, scaled between the
 * minimum and the maximum of all values.
 */
export function drawSparkline(values: readonly number[], width: number): string {
  const shown = values.length > width ? peaks(values, width) : values;
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const range = values.reduce((a, b) => Math.max(a, b), 0) - least;
  return shown
    .map((value) => bars.charAt(range <= 0 ? 0 : Math.round(((value - least) / range) * (bars.length - 1))))
    .join('');
}

function peaks(values: readonly number[], count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    const share = values.slice(
      Math.floor((index * values.length) / count),
      Math.floor(((index + 1) * values.length) / count),
    );
    return share.reduce((a, b) => Math.max(a, b), 0);
  });
}
