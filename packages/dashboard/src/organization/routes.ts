import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appLayout } from './layouts.ts';

export const organizationsRoute = createRoute({
  getParentRoute: () => appLayout,
  path: '/orgs',
  component: lazyRouteComponent(() => import('./organizations-page.tsx'), 'OrganizationsPage'),
});
