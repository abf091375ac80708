import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { secretHistoryQuery, secretListQuery, secretSetQuery } from './queries.ts';

export const secretRoutes = [
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/secrets',
    loader: (loading) => prefetch(loading, secretListQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./secrets-page.tsx'), 'SecretsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/secrets/$set',
    loader: (loading) => {
      const { organization, set } = loading.params;
      prefetch(loading, secretSetQuery(organization, set), secretHistoryQuery(organization, set));
    },
    component: lazyRouteComponent(() => import('./secret-set-page.tsx'), 'SecretSetPage'),
  }),
] as const;
