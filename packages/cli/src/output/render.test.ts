import fc from 'fast-check';
import pico from 'picocolors';
import { expect, test } from 'vitest';
import { renderPlainText, renderRichText } from './render.ts';
import type { Cell, CommandReportBlock } from './report.ts';

const paint = { colors: pico.createColors(false), columns: 80 };
const table = (rows: readonly (readonly Cell[])[]): CommandReportBlock => ({
  kind: 'table',
  columns: [{ title: 'Name' }, { title: 'Size', align: 'right' }, { title: 'Note', dropOrder: 1 }],
  rows,
  empty: 'No items found.',
});

test('renderPlainText prints a table as a tab-separated header and one line per row, for any values', () => {
  const cell = fc.string({ unit: 'binary', maxLength: 30 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }), (rows) => {
      const lines = renderPlainText(table(rows)).split('\n');
      expect(lines).toHaveLength(rows.length === 0 ? 1 : rows.length + 2);
      if (rows.length > 0) expect(lines[0]).toBe('Name\tSize\tNote');
      for (const line of lines.slice(0, -1)) {
        expect(line.split('\t')).toHaveLength(3);
        expect(line.replaceAll('\t', '')).not.toMatch(/\p{Cc}/u);
      }
    }),
  );
});

test('renderRichText aligns columns, prefers the rich text of cells, and prints a message for an empty table', () => {
  const rows = [
    ['a', { text: '1048576', rich: '1.0 MiB' }, 'x'],
    ['longer', '7', ''],
  ];
  expect(renderRichText(table(rows), paint)).toBe('Name       Size  Note\na       1.0 MiB  x\nlonger        7\n');
  expect(renderRichText(table([]), paint)).toBe('No items found.\n');
});

test('renderRichText drops columns in their drop order and never truncates a value', () => {
  const wide = 'w'.repeat(100);
  expect(renderRichText(table([['a', '1', wide]]), paint)).toBe(
    'Name  Size\na        1\nColumns hidden on this narrow terminal: note. --output plain shows all.\n',
  );
  expect(renderRichText(table([[wide, '1', 'x']]), paint)).toContain(wide);
});

test('removes escape sequences and escapes control characters in the last output of a bot', () => {
  const block: CommandReportBlock = {
    kind: 'text',
    title: 'Last output',
    lines: ['\u001b[2J\u001b]0;title\u0007bad\u0000\r'],
  };
  expect(renderRichText(block, paint)).toBe('Last output\n  bad\\x00\\r\n');
  expect(renderPlainText(block)).toBe('Last output\tbad\\x00\\r\n');
});
