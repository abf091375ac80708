import type { ReactNode } from 'react';
import { usePageTitle } from './use-page-title.ts';

type CardProps = { readonly title: string; readonly lead?: ReactNode; readonly children?: ReactNode };

/** Shows the heading and the content of a page that has a single purpose. Also sets the document's title. */
export function Card({ title, lead, children }: CardProps) {
  usePageTitle(title);
  return (
    <section className="mx-auto flex w-full max-w-md flex-col gap-5 rounded-2xl border border-line bg-surface p-6 sm:p-8">
      <div className="flex flex-col gap-2">
        <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
        {lead !== undefined && <p className="text-quiet">{lead}</p>}
      </div>
      {children}
    </section>
  );
}
