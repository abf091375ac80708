import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { buildLogQuery, buildQuery } from './queries.ts';

export const buildRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/builds/$build',
  loader: (loading) => {
    const { organization, build } = loading.params;
    prefetch(loading, buildQuery(organization, build), buildLogQuery(organization, build));
  },
  component: lazyRouteComponent(() => import('./build-page.tsx'), 'BuildPage'),
});
