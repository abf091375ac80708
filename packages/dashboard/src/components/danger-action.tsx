import type { ReactNode } from 'react';
import { Section } from './section.tsx';

type DangerActionProps = { readonly title: string; readonly lead: ReactNode; readonly children: ReactNode };

/** A section with an action that cannot be undone. */
export function DangerAction({ title, lead, children }: DangerActionProps) {
  return (
    <Section title="Danger zone" isDanger>
      <div className="flex flex-col gap-3 px-5 py-4 sm:flex-row sm:items-center sm:justify-between sm:px-6">
        <div className="flex flex-col gap-0.5">
          <p className="font-medium">{title}</p>
          <p className="text-quiet text-sm">{lead}</p>
        </div>
        {children}
      </div>
    </Section>
  );
}
