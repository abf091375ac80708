import type { ReactNode } from 'react';

/** An error that a screen reader announces at once. */
export function Alert({ children }: { readonly children: ReactNode }) {
  return (
    <div role="alert" className="rounded-lg border border-danger bg-danger-surface px-4 py-3 text-danger text-sm">
      {children}
    </div>
  );
}
