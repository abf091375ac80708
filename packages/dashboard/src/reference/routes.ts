import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { prefetch } from '../routing/prefetch.ts';
import { rootRoute } from '../routing/root.tsx';
import { openApiQuery } from './queries.ts';

export const referenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/docs',
  loader: (loading) => prefetch(loading, openApiQuery),
  component: lazyRouteComponent(() => import('./api-reference-page.tsx'), 'ApiReferencePage'),
});
