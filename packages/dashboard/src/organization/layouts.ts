import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInLayout } from '../accounts/layouts.ts';

/** The parent of pages with the main navigation, which `router.ts` sets as its component. */
export const appLayout = createRoute({ getParentRoute: () => signedInLayout, id: 'app' });

/** The parent of all pages of an organization. */
export const organizationLayout = createRoute({
  getParentRoute: () => appLayout,
  path: '/orgs/$organization',
  component: lazyRouteComponent(() => import('./organization-gate.tsx'), 'OrganizationGate'),
});
