import type { ReactNode } from 'react';

/** Shows an error message, which screen readers announce immediately. */
export function Alert({ children }: { readonly children: ReactNode }) {
  return (
    <div role="alert" className="rounded-lg border border-danger bg-danger-surface px-4 py-3 text-danger text-sm">
      {children}
    </div>
  );
}
