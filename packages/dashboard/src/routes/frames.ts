import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { SignedInGuard } from '../accounts/signed-in.tsx';
import { Shell } from '../shell/shell.tsx';
import { rootRoute } from './root.tsx';

// Parent routes. Each one renders a header or navigation around its child pages, or checks a requirement of these pages, such
// as a signed-in person.
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
