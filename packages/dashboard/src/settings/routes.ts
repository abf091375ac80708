import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { appLayout, organizationLayout } from '../organization/layouts.ts';
import { prefetchPermitted } from '../organization/prefetch-permitted.ts';
import { organizationPropertiesQuery, regionsQuery } from '../organization/queries.ts';
import { prefetch } from '../routing/prefetch.ts';
import { parseAuditFilter } from './audit-filter.ts';
import {
  agentNamesQuery,
  alertsQuery,
  apiKeysQuery,
  auditQuery,
  invitationsQuery,
  membersQuery,
  personalTokensQuery,
  phoneConnectionsQuery,
  roomConnectionsQuery,
  webhookDeliveriesQuery,
  webhooksQuery,
} from './queries.ts';

const settingsLayout = lazyRouteComponent(() => import('./settings-layout.tsx'), 'SettingsLayout');

const organizationSettings = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/settings',
  component: settingsLayout,
});
// An array of its own, because TypeScript infers no precise types for routes that are created in the arguments of `addChildren`.
const organizationPages = [
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/orgs/$organization/settings/general', params, replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/general',
    loader: (loading) => {
      const { organization } = loading.params;
      prefetch(
        loading,
        regionsQuery(organization),
        organizationPropertiesQuery(organization),
        roomConnectionsQuery(organization),
        phoneConnectionsQuery(organization),
      );
      void prefetchPermitted(loading, 'transferOrganization', membersQuery(organization));
    },
    component: lazyRouteComponent(() => import('./general-page.tsx'), 'GeneralPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/keys',
    validateSearch: ({ kind }): { kind?: 'public' } => (kind === 'public' ? { kind } : {}),
    loader: (loading) => void prefetchPermitted(loading, 'listKeys', apiKeysQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/members',
    loader: (loading) => {
      const { organization } = loading.params;
      prefetch(loading, membersQuery(organization));
      void prefetchPermitted(loading, 'listInvitations', invitationsQuery(organization));
    },
    component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/webhooks',
    loader: (loading) => void prefetchPermitted(loading, 'listWebhooks', webhooksQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/webhooks/$webhookId',
    loader: (loading) => {
      const { organization, webhookId } = loading.params;
      void prefetchPermitted(loading, 'listWebhooks', webhooksQuery(organization));
      void prefetchPermitted(loading, 'listWebhookDeliveries', webhookDeliveriesQuery(organization, webhookId));
    },
    component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/alerts',
    loader: (loading) => {
      const { organization } = loading.params;
      prefetch(loading, alertsQuery(organization), agentNamesQuery(organization));
    },
    component: lazyRouteComponent(() => import('./alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationSettings,
    path: '/audit',
    validateSearch: parseAuditFilter,
    loader: (loading) => {
      const query = auditQuery(loading.params.organization, parseAuditFilter(loading.location.search));
      void prefetchPermitted(loading, 'listAuditEntries', query);
    },
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const;
export const organizationSettingsRoutes = organizationSettings.addChildren(organizationPages);

const personalSettings = createRoute({ getParentRoute: () => appLayout, path: '/settings', component: settingsLayout });
const personalPages = [
  createRoute({
    getParentRoute: () => personalSettings,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/settings/account', replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => personalSettings,
    path: '/account',
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => personalSettings,
    path: '/tokens',
    loader: (loading) => prefetch(loading, personalTokensQuery),
    component: lazyRouteComponent(() => import('./tokens-page.tsx'), 'TokensPage'),
  }),
] as const;
export const personalSettingsRoutes = personalSettings.addChildren(personalPages);
