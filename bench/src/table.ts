import { type BenchmarkFigure, type BenchmarkRatioLimit, compareFigureWithLimit } from './figure.ts';

const heads = ['what', 'ours', 'reference', 'ratio', 'limit', 'verdict'] as const;

export function renderTable(figures: readonly BenchmarkFigure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    figure.ours,
    figure.reference,
    figure.ratio === null ? '' : figure.ratio.toFixed(2),
    figure.limit === null ? '' : renderLimit(figure.limit),
    compareFigureWithLimit(figure),
  ]);
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function renderLimit(limit: BenchmarkRatioLimit): string {
  return 'most' in limit ? `at most ${limit.most}` : `at least ${limit.least}`;
}
