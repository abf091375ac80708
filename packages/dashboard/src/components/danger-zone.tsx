import type { ReactNode } from 'react';
import { Section } from './section.tsx';

/** A section with actions that cannot be undone. */
export function DangerZone({ children }: { readonly children: ReactNode }) {
  return (
    <Section title="Danger zone" isDanger>
      <div className="divide-y divide-line">{children}</div>
    </Section>
  );
}

type DangerActionProps = { readonly title: string; readonly lead: ReactNode; readonly children: ReactNode };

/** Describes an action of a `DangerZone`. Its children are the button and the fields of the action. */
export function DangerAction({ title, lead, children }: DangerActionProps) {
  return (
    <div className="flex flex-col gap-3 px-5 py-4 sm:flex-row sm:items-center sm:px-6">
      <div className="flex-1">
        <h3 className="font-medium">{title}</h3>
        <p className="text-quiet text-sm">{lead}</p>
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}
