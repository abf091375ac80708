import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

type EmptyStateProps = {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
};

/** Replaces a list that has no items: says what the items are for, and how to create the first one. */
export function EmptyState({ icon: Icon, title, children }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <span className="rounded-full border border-line bg-background p-3">
        <Icon aria-hidden="true" className="size-6 text-quiet" />
      </span>
      <p className="font-medium">{title}</p>
      <div className="flex max-w-md flex-col items-center gap-4 text-quiet text-sm">{children}</div>
    </div>
  );
}
