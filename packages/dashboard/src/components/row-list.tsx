import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

const rowsPerPage = 50;

type RowListProps<Item> = {
  readonly label: string;
  readonly items: readonly Item[];
  /** The query of a list that the service returns in pages. */
  readonly pages?: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
  /** How many rows the list shows at first. */
  readonly firstRows?: number;
  /** Shown instead of a list without items. */
  readonly empty?: ReactNode;
  /** Renders the row of an item, with a key. */
  readonly children: (item: Item) => ReactNode;
};

/** A list, for example of API keys. Shows 50 rows or `firstRows`, and more of them on request. */
export function RowList<Item>({ label, items, pages, firstRows = rowsPerPage, empty, children }: RowListProps<Item>) {
  const [rowCount, setRowCount] = useState(firstRows);
  const showMore = () => {
    const nextCount = rowCount + rowsPerPage;
    setRowCount(nextCount);
    if (pages?.hasNextPage === true && items.length < nextCount) void pages.fetchNextPage();
  };
  if (items.length === 0 && empty !== undefined) return empty;
  return (
    <>
      <ul aria-label={label} className="divide-y divide-line">
        {items.slice(0, rowCount).map(children)}
      </ul>
      {(items.length > rowCount || pages?.hasNextPage === true) && (
        <div className="flex justify-center border-line border-t p-4">
          <Button variant="outline" onClick={showMore} disabled={pages?.isFetchingNextPage}>
            {pages?.isFetchingNextPage === true ? 'Loading…' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  );
}

type RowProps = {
  readonly title: ReactNode;
  /** Properties of the item, shown on one line if they fit. */
  readonly facts?: readonly ReactNode[];
  readonly actions?: ReactNode;
};

/** A row of a `RowList`. It shows the properties of an item, and buttons that act on the item. */
export function Row({ title, facts = [], actions }: RowProps) {
  return (
    <li className="flex flex-col gap-x-6 gap-y-3 px-5 py-4 sm:flex-row sm:items-center sm:px-6">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium wrap-anywhere">{title}</div>
        {facts.length > 0 && (
          <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-quiet text-sm">
            {facts.map((fact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a row have fixed positions
              <li key={index} className="min-w-0 wrap-anywhere">
                {fact}
              </li>
            ))}
          </ul>
        )}
      </div>
      {actions !== undefined && <div className="flex shrink-0 items-center gap-2">{actions}</div>}
    </li>
  );
}
