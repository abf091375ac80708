import type { ReactNode } from 'react';

/** A list, for example of API keys. Each row shows the properties of an item, and buttons that act on the item. */
export function RowList({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line">
      {children}
    </ul>
  );
}

type RowProps = {
  readonly title: ReactNode;
  /** Properties of the item, shown on one line if they fit. */
  readonly facts?: readonly ReactNode[];
  readonly actions?: ReactNode;
};

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
