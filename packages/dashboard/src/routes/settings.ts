import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { AuditFilter } from '../settings/audit-filter.ts';
import { app, organization } from './frames.ts';
import { text } from './search-values.ts';

const settingsLayout = lazyRouteComponent(() => import('../settings/settings-layout.tsx'), 'SettingsLayout');

export const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: settingsLayout,
});
export const settingsStart = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/orgs/$organization/settings/general', params, replace: true });
  },
});
export const general = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/general',
  component: lazyRouteComponent(() => import('../settings/general-page.tsx'), 'GeneralPage'),
});
export const keys = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/keys',
  validateSearch: ({ kind }): { kind?: 'public' } => (kind === 'public' ? { kind } : {}),
  component: lazyRouteComponent(() => import('../settings/keys-page.tsx'), 'KeysPage'),
});
export const members = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/members',
  component: lazyRouteComponent(() => import('../settings/members-page.tsx'), 'MembersPage'),
});
export const audit = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/audit',
  validateSearch: ({ action, object, result, since }): AuditFilter => ({
    action: text(action),
    object: text(object),
    result: text(result),
    since: text(since),
  }),
  component: lazyRouteComponent(() => import('../settings/audit-page.tsx'), 'AuditPage'),
});

export const personalSettings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: settingsLayout,
});
export const personalSettingsStart = createRoute({
  getParentRoute: () => personalSettings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account', replace: true });
  },
});
export const account = createRoute({
  getParentRoute: () => personalSettings,
  path: '/account',
  component: lazyRouteComponent(() => import('../settings/account-page.tsx'), 'AccountPage'),
});
export const tokens = createRoute({
  getParentRoute: () => personalSettings,
  path: '/tokens',
  component: lazyRouteComponent(() => import('../settings/tokens-page.tsx'), 'TokensPage'),
});
