import type { Colors } from './colors.ts';
import { escapeControls } from './printable.ts';
import type { Cell, Column, CommandReportBlock, TextTone } from './report.ts';
import { drawSparkline } from './sparkline.ts';

export type RenderStyle = { readonly colors: Colors; readonly columns: number };

/** Renders a part as tab-separated lines without colors. An empty table has no column titles. Omits notes. */
export function renderPlainText(block: CommandReportBlock): string {
  switch (block.kind) {
    case 'table':
      return lines([
        ...(block.rows.length === 0 ? [] : [block.columns.map(({ title }) => title.trim()).join('\t')]),
        ...block.rows.map((row) => row.map(plainText).join('\t')),
      ]);
    case 'fields':
      return lines(block.fields.map(([label, value]) => `${label}\t${plainText(value)}`));
    case 'chart':
      return lines([
        ...block.fields.map(([label, value]) => `${block.title} ${label}\t${value}`),
        `${block.title} series\t${drawSparkline(block.values, 60)}`,
      ]);
    case 'text':
      return lines(block.lines.map((line) => `${block.title}\t${escapeControls(line)}`));
    case 'document':
      return block.text;
    case 'pieces':
      return lines(block.pieces.map(({ plain }) => plain));
    case 'note':
      return '';
  }
}

export function renderRichText(block: CommandReportBlock, paint: RenderStyle): string {
  switch (block.kind) {
    case 'table':
      return block.rows.length === 0 ? lines([block.empty]) : richTable(block.columns, block.rows, paint);
    case 'fields':
      return richFields(block.title, block.fields, paint);
    case 'chart':
      return richChart(block, paint);
    case 'text':
      return lines([paint.colors.bold(block.title), ...block.lines.map((line) => `  ${escapeControls(line)}`)]);
    case 'document':
      return block.text;
    case 'pieces':
      return lines(block.pieces.length === 0 ? [block.empty] : block.pieces.map(({ rich }) => rich(paint.colors)));
    case 'note':
      return lines(block.lines.map((line) => paint.colors.dim(escapeControls(line))));
  }
}

function richChart(block: Extract<CommandReportBlock, { kind: 'chart' }>, { colors, columns }: RenderStyle): string {
  const width = Math.max(10, Math.min(60, columns - 4));
  return lines([
    colors.bold(block.title),
    `  ${colors.cyan(drawSparkline(block.values, width))}`,
    `  ${block.fields.map(([label, value]) => `${colors.dim(label)} ${value}`).join('  ')}`,
  ]);
}

function richFields(
  title: string | undefined,
  fields: readonly (readonly [string, Cell])[],
  { colors }: RenderStyle,
): string {
  const width = Math.max(...fields.map(([label]) => label.length));
  const rows = fields.map(([label, value]) => `${colors.dim(label.padEnd(width))}  ${paintCell(value, colors)}`);
  return lines(title === undefined ? rows : [colors.bold(title), ...rows.map((row) => `  ${row}`)]);
}

function richTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], paint: RenderStyle): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => richText(row[index] ?? '').length)),
  );
  const kept = fittingColumns(columns, widths, paint.columns);
  const line = (write: (index: number) => string) =>
    kept
      .map((index) => write(index))
      .join('  ')
      .trimEnd();
  const padding = (index: number, length: number) => ' '.repeat(Math.max(0, (widths[index] ?? 0) - length));
  const put = (index: number, shown: string, length: number) =>
    columns[index]?.align === 'right' ? padding(index, length) + shown : shown + padding(index, length);
  const head = line((index) => {
    const title = columns[index]?.title ?? '';
    return put(index, paint.colors.bold(title), title.length);
  });
  const hidden = columns.filter((_, index) => !kept.includes(index)).map(({ title }) => title.toLowerCase());
  return lines([
    head,
    ...rows.map((row) =>
      line((index) => put(index, paintCell(row[index] ?? '', paint.colors), richText(row[index] ?? '').length)),
    ),
    ...(hidden.length === 0
      ? []
      : [paint.colors.dim(`Columns hidden on this narrow terminal: ${hidden.join(', ')}. --output plain shows all.`)]),
  ]);
}

/**
 * Drops columns in the order of `dropOrder` until the other columns fit, and returns the indexes of the columns that are kept.
 */
function fittingColumns(columns: readonly Column[], widths: readonly number[], available: number): readonly number[] {
  let kept = columns.map((_, index) => index);
  const needed = () => kept.reduce((sum, index) => sum + (widths[index] ?? 0) + 2, -2);
  const order = kept.filter((index) => columns[index]?.dropOrder !== undefined);
  order.sort((a, b) => (columns[a]?.dropOrder ?? 0) - (columns[b]?.dropOrder ?? 0));
  for (const index of order) {
    if (needed() <= available) break;
    kept = kept.filter((candidate) => candidate !== index);
  }
  return kept;
}

function plainText(cell: Cell): string {
  return escapeControls(typeof cell === 'string' ? cell : cell.text);
}

function richText(cell: Cell): string {
  return escapeControls(typeof cell === 'string' ? cell : (cell.rich ?? cell.text));
}

function paintCell(cell: Cell, colors: Colors): string {
  const shown = richText(cell);
  const tone = typeof cell === 'string' ? undefined : cell.tone;
  return tone === undefined ? shown : toneStyles(colors)[tone](shown);
}

function toneStyles(colors: Colors): Readonly<Record<TextTone, (text: string) => string>> {
  return { good: colors.green, bad: colors.red, warn: colors.yellow, dim: colors.dim, strong: colors.bold };
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
