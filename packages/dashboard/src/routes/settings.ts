import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { AuditFilter } from '../settings/audit-filter.ts';
import { appLayout, organizationLayout } from './frames.ts';
import { readTextParameter } from './search-values.ts';

const settingsLayout = lazyRouteComponent(() => import('../settings/settings-layout.tsx'), 'SettingsLayout');

export const organizationSettingsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/settings',
  component: settingsLayout,
});
export const settingsIndexRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/orgs/$organization/settings/general', params, replace: true });
  },
});
export const generalRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/general',
  component: lazyRouteComponent(() => import('../settings/general-page.tsx'), 'GeneralPage'),
});
export const apiKeysRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/keys',
  validateSearch: ({ kind }): { kind?: 'public' } => (kind === 'public' ? { kind } : {}),
  component: lazyRouteComponent(() => import('../settings/api-keys-page.tsx'), 'ApiKeysPage'),
});
export const membersRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('../settings/members-page.tsx'), 'MembersPage'),
});
export const auditRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/audit',
  validateSearch: ({ action, object, result, since }): AuditFilter => ({
    action: readTextParameter(action),
    object: readTextParameter(object),
    result: readTextParameter(result),
    since: readTextParameter(since),
  }),
  component: lazyRouteComponent(() => import('../settings/audit-page.tsx'), 'AuditPage'),
});

export const personalSettingsRoute = createRoute({
  getParentRoute: () => appLayout,
  path: '/settings',
  component: settingsLayout,
});
export const personalSettingsIndexRoute = createRoute({
  getParentRoute: () => personalSettingsRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account', replace: true });
  },
});
export const accountRoute = createRoute({
  getParentRoute: () => personalSettingsRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('../settings/account-page.tsx'), 'AccountPage'),
});
export const tokensRoute = createRoute({
  getParentRoute: () => personalSettingsRoute,
  path: '/tokens',
  component: lazyRouteComponent(() => import('../settings/tokens-page.tsx'), 'TokensPage'),
});
