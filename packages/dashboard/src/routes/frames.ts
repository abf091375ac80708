import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { SignedInGuard } from '../accounts/signed-in.tsx';
import { Shell } from '../shell/shell.tsx';
import { rootRoute } from './root.tsx';

// Parent routes of the pages. A frame draws what surrounds its pages (header, navigation) and checks what they require, such as
// a signed-in person or access to the organization.
export const shellLayout = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell });
export const signedInLayout = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedInGuard,
});
export const signedInShellLayout = createRoute({ getParentRoute: () => signedInLayout, id: 'shell', component: Shell });
export const appLayout = createRoute({
  getParentRoute: () => signedInLayout,
  id: 'app',
  component: lazyRouteComponent(() => import('../shell/app-shell.tsx'), 'AppShell'),
});
export const organizationLayout = createRoute({
  getParentRoute: () => appLayout,
  path: '/orgs/$organization',
  component: lazyRouteComponent(() => import('../organization/organization-gate.tsx'), 'OrganizationGate'),
});
