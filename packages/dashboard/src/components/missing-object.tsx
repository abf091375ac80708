import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';
import { Section } from './section.tsx';
import { usePageTitle } from './use-page-title.ts';

type MissingObjectProps = {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly reason?: string;
  /** A link to the list of the objects that exist. */
  readonly children: ReactNode;
};

/** The page of an object that does not exist. */
export function MissingObject({
  icon,
  title,
  reason = 'It does not exist in this organization, or was deleted.',
  children,
}: MissingObjectProps) {
  usePageTitle(title);
  return (
    <Section>
      <EmptyState icon={icon} title={title}>
        {reason}
        {children}
      </EmptyState>
    </Section>
  );
}
