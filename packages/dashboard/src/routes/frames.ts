import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { SignedIn } from '../accounts/signed-in.tsx';
import { Shell } from '../shell/shell.tsx';
import { rootRoute } from './root.tsx';

// Parent routes of the pages. A frame draws what surrounds its pages (header, navigation) and checks what they require, such as
// a signed-in person or access to the organization.
export const shellFrame = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell });
export const signedInFrame = createRoute({ getParentRoute: () => rootRoute, id: 'signed-in', component: SignedIn });
export const signedInShellFrame = createRoute({ getParentRoute: () => signedInFrame, id: 'shell', component: Shell });
export const appFrame = createRoute({
  getParentRoute: () => signedInFrame,
  id: 'app',
  component: lazyRouteComponent(() => import('../shell/app-shell.tsx'), 'AppShell'),
});
export const organizationFrame = createRoute({
  getParentRoute: () => appFrame,
  path: '/orgs/$organization',
  component: lazyRouteComponent(() => import('../organization/organization-gate.tsx'), 'OrganizationGate'),
});
