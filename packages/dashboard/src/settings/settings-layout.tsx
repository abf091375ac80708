import { Link, Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useUser } from '../accounts/session.ts';
import { Navigation } from '../components/navigation.tsx';
import { canCallOperation, findMembership, findPreferredMembership } from '../organization/organization.ts';
import { organizationSettingsPages, personalSettingsPages } from '../organization/settings-pages.ts';

const itemClasses =
  'flex min-h-9 items-center whitespace-nowrap rounded-lg px-3 text-quiet text-sm hover:bg-line/40 hover:text-foreground aria-[current]:bg-line/60 aria-[current]:font-medium aria-[current]:text-foreground';

/** The layout of all settings pages, of the organization and of the person, with a list of these pages on the side. */
export function SettingsLayout() {
  const user = useUser();
  const { organization } = useParams({ strict: false });
  const membership = organization === undefined ? findPreferredMembership(user) : findMembership(user, organization);
  return (
    <div className="flex flex-col gap-8 md:flex-row md:gap-12">
      <Navigation
        label="Settings"
        className="-mx-4 shrink-0 gap-6 pb-1 pl-4 md:mx-0 md:w-48 md:flex-col md:overflow-visible md:pl-0"
      >
        {membership !== undefined && (
          <ItemList title={membership.verboseName}>
            {organizationSettingsPages
              .filter((page) => !('requires' in page) || canCallOperation(membership, page.requires))
              .map(({ label, to }) => (
                <li key={label}>
                  <Link to={to} params={{ organization: membership.name }} className={itemClasses}>
                    {label}
                  </Link>
                </li>
              ))}
          </ItemList>
        )}
        <ItemList title="You">
          {personalSettingsPages.map(({ label, to }) => (
            <li key={label}>
              <Link to={to} className={itemClasses}>
                {label}
              </Link>
            </li>
          ))}
        </ItemList>
      </Navigation>
      <div className="flex min-w-0 flex-1 flex-col gap-8">
        <Outlet />
      </div>
    </div>
  );
}

function ItemList({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="truncate px-3 text-quiet text-xs max-md:sr-only">{title}</p>
      <ul className="flex gap-1 md:flex-col">{children}</ul>
    </div>
  );
}
