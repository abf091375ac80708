import type { Cell, Column, CommandReportBlock } from './report.ts';

export type TableColumn<Item> = readonly [title: string, cell: (item: Item) => Cell, options?: Omit<Column, 'title'>];

/** Creates a table with a row for each item. Without items, the text `empty` is printed. */
export function createTable<Item>(
  items: readonly Item[],
  empty: string,
  columns: readonly TableColumn<Item>[],
): CommandReportBlock {
  return {
    kind: 'table',
    columns: columns.map(([title, , options]) => ({ title, ...options })),
    rows: items.map((item) => columns.map(([, cell]) => cell(item))),
    empty,
  };
}

/** Creates a note with the option that shows the next page. None on the last page, where `cursor` is null. */
export function createNextPageNote(cursor: string | number | null, option = '--cursor'): readonly CommandReportBlock[] {
  return cursor === null ? [] : [{ kind: 'note', lines: [`Next page: ${option} ${cursor}`] }];
}
