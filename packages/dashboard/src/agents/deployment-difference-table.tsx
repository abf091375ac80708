import { ArrowRight } from 'lucide-react';
import type { SettingDifference } from './deployment-differences.ts';

export function DeploymentDifferenceTable({ differences }: { readonly differences: readonly SettingDifference[] }) {
  if (differences.length === 0) return <p className="text-quiet text-sm">Code and settings are the same.</p>;
  return (
    <ul className="flex flex-col gap-2.5 text-sm">
      {differences.map(({ label, from, to }) => (
        <li key={label} className="grid gap-x-4 sm:grid-cols-[12rem_1fr]">
          <span className="text-quiet">{label}</span>
          <span className="flex min-w-0 flex-wrap items-center gap-x-2">
            <span className="wrap-anywhere line-through decoration-quiet/60">{from}</span>
            <ArrowRight role="img" aria-label="becomes" className="size-3.5 shrink-0 text-quiet" />
            <span className="font-medium wrap-anywhere">{to}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
