import { type BenchmarkFigure, type BenchmarkRatioLimit, compareFigureWithLimit } from './figure.ts';

const heads = ['what', 'ours', 'reference', 'ratio', 'limit', 'verdict', 'measured'] as const;

/** The cells of a figure's row. `measured` is the date and commit of the measurement. */
export function toCells(figure: BenchmarkFigure, measured: string): readonly string[] {
  return [
    figure.what,
    figure.ours,
    figure.reference,
    figure.ratio === null ? '' : figure.ratio.toFixed(2),
    figure.limit === null ? '' : renderLimit(figure.limit),
    compareFigureWithLimit(figure),
    measured,
  ];
}

export function renderTable(rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Returns the cells of the rows of a table that `renderTable` wrote. */
export function parseRows(table: string): readonly (readonly string[])[] {
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

function renderLimit(limit: BenchmarkRatioLimit): string {
  return 'most' in limit ? `at most ${limit.most}` : `at least ${limit.least}`;
}
