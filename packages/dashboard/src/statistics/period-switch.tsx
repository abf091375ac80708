import type { StatisticsPeriod } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { defaultPeriod, listPeriodNames, periodLabels } from './period.ts';

/** Links to the same page with statistics of another period. */
export function PeriodSwitch({ period }: { readonly period: StatisticsPeriod }) {
  return (
    <nav aria-label="Period" className="inline-flex rounded-lg border border-field bg-surface p-0.5">
      {listPeriodNames().map((name) => (
        <Link
          key={name}
          to="."
          search={(previous: object) => ({ ...previous, period: name === defaultPeriod ? undefined : name })}
          replace
          resetScroll={false}
          data-current={name === period}
          activeOptions={{ exact: true, explicitUndefined: true }}
          className="rounded-md px-3 py-1.5 text-quiet text-sm hover:text-foreground data-[current=true]:bg-line/70 data-[current=true]:font-medium data-[current=true]:text-foreground"
        >
          {periodLabels[name]}
        </Link>
      ))}
    </nav>
  );
}
