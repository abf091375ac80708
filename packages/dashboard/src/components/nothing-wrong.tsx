import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';

type NothingWrongProps = { readonly title: string; readonly children?: ReactNode };

/** Replaces a list of problems that has no items, in one line, because there is nothing to do. */
export function NothingWrong({ title, children }: NothingWrongProps) {
  return (
    <div className="flex gap-3 px-5 py-4 sm:px-6">
      <CircleCheck aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-good" />
      <div className="flex flex-wrap gap-x-3 gap-y-0.5">
        <p className="font-medium">{title}</p>
        {children !== undefined && <p className="text-quiet">{children}</p>}
      </div>
    </div>
  );
}
