import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useUser } from '../accounts/session.ts';
import { ShellCommandProvider } from '../components/equivalent-shell-command.tsx';
import { Navigation } from '../components/navigation.tsx';
import { NoticeProvider } from '../components/notice.tsx';
import { ThemeSwitch } from '../components/theme-switch.tsx';
import { HelpLink } from '../help/help-link.tsx';
import { findMembership, findPreferredMembership } from '../organization/organization.ts';
import { KeyboardShortcuts } from '../palette/keyboard-shortcuts.tsx';
import { AccountMenu } from './account-menu.tsx';
import { OrganizationSwitcher } from './organization-switcher.tsx';

const navigation = [
  { label: 'Overview', to: '/orgs/$organization' },
  { label: 'Agents', to: '/orgs/$organization/agents' },
  { label: 'Sessions', to: '/orgs/$organization/sessions' },
  { label: 'Talk', to: '/orgs/$organization/talk' },
  { label: 'Logs', to: '/orgs/$organization/logs' },
  { label: 'Secrets', to: '/orgs/$organization/secrets' },
  { label: 'Settings', to: '/orgs/$organization/settings' },
] as const;
/** Pages with a keyboard shortcut: the pages of the navigation, and the deploy page, which the navigation does not list. */
const shortcutPages = [...navigation, { label: 'Deploy', to: '/orgs/$organization/deploy' }] as const;

/** The header and the navigation around the pages for signed-in people. */
export function AppShell() {
  const user = useUser();
  const { organization } = useParams({ strict: false });
  const membership = organization === undefined ? findPreferredMembership(user) : findMembership(user, organization);
  const navigate = useNavigate();
  const name = membership?.name;
  const pages = useMemo(() => {
    if (name === undefined) return [];
    return shortcutPages.map(({ label, to }) => ({
      label,
      open: () => void navigate({ to, params: { organization: name } }),
    }));
  }, [name, navigate]);
  return (
    <NoticeProvider>
      <ShellCommandProvider>
        <div className="flex min-h-dvh flex-col">
          <a href="#content" className="absolute top-2 -left-full z-50 rounded-lg bg-surface px-4 py-2 focus:left-2">
            Skip to the content
          </a>
          <header className="border-line border-b bg-surface">
            <div className="mx-auto flex w-full max-w-page items-center gap-1 px-4 pt-3 pb-2 sm:gap-2 sm:px-6">
              <Link to="/" aria-label="bothost, start page" className="shrink-0">
                <img src="/assets/parrot.svg" alt="" width="28" height="28" />
              </Link>
              <span aria-hidden="true" className="pl-1 text-field text-lg">
                /
              </span>
              <OrganizationSwitcher user={user} current={membership} />
              <div className="ml-auto flex shrink-0 items-center gap-1">
                <KeyboardShortcuts pages={pages} />
                <HelpLink />
                <ThemeSwitch />
                <AccountMenu user={user} />
              </div>
            </div>
            {membership !== undefined && (
              <Navigation label="Main" className="mx-auto w-full max-w-page gap-1 pl-2 sm:px-4">
                {navigation.map(({ label, to }) => (
                  <Link
                    key={label}
                    to={to}
                    params={{ organization: membership.name }}
                    className="group px-1 pb-2 text-quiet text-sm hover:text-foreground aria-[current]:font-medium aria-[current]:text-foreground aria-[current]:shadow-[inset_0_-2px_var(--ui-accent)]"
                    activeOptions={{ exact: to === '/orgs/$organization' }}
                  >
                    <span className="block rounded-md px-2 py-1.5 group-hover:bg-line/50">{label}</span>
                  </Link>
                ))}
              </Navigation>
            )}
          </header>
          <main id="content" className="mx-auto w-full max-w-page flex-1 px-4 pt-8 pb-20 sm:px-6">
            <Outlet />
          </main>
        </div>
      </ShellCommandProvider>
    </NoticeProvider>
  );
}
