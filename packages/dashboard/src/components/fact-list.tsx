import type { ReactNode } from 'react';

type FactsProps = { readonly facts: readonly (readonly [name: string, value: ReactNode])[] };

/** Lists names with their values below them in several columns or, on a narrow screen, beside them. */
export function FactList({ facts }: FactsProps) {
  return (
    <dl className="grid gap-x-8 gap-y-2 px-5 py-5 text-sm sm:grid-cols-2 sm:gap-y-4 sm:px-6 lg:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name} className="flex min-w-0 flex-col gap-0.5 max-sm:grid max-sm:grid-cols-[8rem_minmax(0,1fr)]">
          <dt className="text-quiet">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Lists names with their values beside them. */
export function FactTable({ facts }: FactsProps) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-quiet">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
