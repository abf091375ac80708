import type { ReactNode } from 'react';
import { twMerge } from 'tailwind-merge';

export type TableColumn<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Whether the cells are right-aligned numbers. */
  readonly isNumber?: boolean;
  /** Whether the column is hidden on a narrow screen. */
  readonly isOptional?: boolean;
};

type DataTableProps<Row> = {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly className?: string;
};

/** A table of records with a column per property. Scrolls horizontally if it is wider than its container. */
export function DataTable<Row>({ label, columns, rows, rowKey, className }: DataTableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a region only if it can have the focus
    <section aria-label={`${label}, scrollable`} tabIndex={0} className={twMerge('overflow-auto', className)}>
      <table aria-label={label} className="w-full text-sm">
        <thead className="text-left text-quiet text-xs">
          <tr className="border-line border-b">
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cellClasses(column, 'py-2 font-normal')}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={rowKey(row)} className="relative focus-within:bg-background hover:bg-background">
              {columns.map((column) => (
                <td key={column.title} className={cellClasses(column, 'py-2.5')}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function cellClasses<Row>({ isNumber = false, isOptional = false }: TableColumn<Row>, vertical: string): string {
  return twMerge(
    'whitespace-nowrap px-3 first:pl-5 last:pr-5 sm:first:pl-6 sm:last:pr-6',
    vertical,
    isNumber && 'text-right tabular-nums',
    isOptional && 'max-md:hidden',
  );
}
