import { type ReactNode, useId } from 'react';
import { twMerge } from 'tailwind-merge';
import { ShellCommandButton } from './equivalent-shell-command.tsx';
import { HelpIcon } from './help-icon.tsx';
import type { HelpTopic } from './help-topics.ts';
import { usePageTitle } from './use-page-title.ts';

type PageHeaderProps = {
  readonly title: string;
  /** A link to the list that contains what the page shows. */
  readonly parent?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
};

/** The heading of a page with several sections, and the button for its shell commands. Also sets the title of the document. */
export function PageHeader({ title, parent, lead, actions }: PageHeaderProps) {
  usePageTitle(title);
  return (
    <div className="flex flex-wrap items-start justify-between gap-4 lg:grid lg:grid-cols-[minmax(0,1fr)_auto]">
      {parent !== undefined && (
        <nav aria-label="Breadcrumb" className="col-span-2 w-full text-quiet text-sm [&_a]:hover:text-foreground">
          {parent} / {title}
        </nav>
      )}
      <div className="flex max-w-2xl flex-col gap-1.5 max-sm:w-full">
        <div className="flex items-start justify-between gap-4">
          <h1 className="min-w-0 font-semibold text-2xl tracking-tight wrap-anywhere">{title}</h1>
          <div className="shrink-0 sm:hidden">
            <ShellCommandButton />
          </div>
        </div>
        {lead !== undefined && <p className="text-quiet">{lead}</p>}
      </div>
      <div className={twMerge('flex items-center gap-2', !actions && 'max-sm:hidden')}>
        <div className="shrink-0 max-sm:hidden">
          <ShellCommandButton />
        </div>
        {actions}
      </div>
    </div>
  );
}

type SectionProps = {
  readonly title?: string;
  readonly lead?: ReactNode;
  /** The section of the help that explains this section. The link stands beside the title, which is then required. */
  readonly help?: HelpTopic | undefined;
  readonly actions?: ReactNode;
  readonly isDanger?: boolean;
  readonly children?: ReactNode;
};

/**
 * A framed part of a page. Its children span the full width of the frame, so that the separators between list rows reach both
 * edges.
 */
export function Section({ title, lead, help, actions, isDanger = false, children }: SectionProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className={twMerge(
        'overflow-hidden rounded-2xl border bg-surface',
        isDanger ? 'border-danger/50' : 'border-line',
      )}
    >
      {title !== undefined && (
        <div className="flex items-start justify-between gap-x-6 gap-y-3 border-line px-5 py-4 not-last:border-b max-sm:flex-wrap sm:px-6">
          <div className="flex min-w-0 flex-col gap-1">
            <div className="flex items-center gap-1.5">
              <h2 id={id} className="font-semibold">
                {title}
              </h2>
              {help !== undefined && <HelpIcon address={`/help/${help}`} label={title} />}
            </div>
            {lead !== undefined && <p className="max-w-2xl text-quiet text-sm">{lead}</p>}
          </div>
          {actions !== undefined && <div className="shrink-0">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}
