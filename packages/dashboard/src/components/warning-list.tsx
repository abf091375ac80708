import { TriangleAlert } from 'lucide-react';
import { twMerge } from 'tailwind-merge';

type WarningListProps = { readonly warnings: readonly string[]; readonly className?: string };

/** Nothing if there are no warnings. */
export function WarningList({ warnings, className }: WarningListProps) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className={twMerge('flex flex-col gap-2 px-5 py-4 text-sm sm:px-6', className)}>
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-2.5">
          <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
          <span className="min-w-0 wrap-anywhere">{warning}</span>
        </li>
      ))}
    </ul>
  );
}
