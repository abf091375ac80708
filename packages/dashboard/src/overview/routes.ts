import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { overviewQuery } from './queries.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/',
  loader: (loading) => prefetch(loading, overviewQuery(loading.params.organization)),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
