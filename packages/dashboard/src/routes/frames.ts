import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { SignedIn } from '../accounts/signed-in.tsx';
import { Shell } from '../shell/shell.tsx';
import { root } from './root.tsx';

// Parent routes of all pages: they add the frame around a page and check what the page needs, such as a signed-in person.
export const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
export const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });
export const signedInShell = createRoute({ getParentRoute: () => signedIn, id: 'shell', component: Shell });
export const app = createRoute({
  getParentRoute: () => signedIn,
  id: 'app',
  component: lazyRouteComponent(() => import('../shell/app-shell.tsx'), 'AppShell'),
});
export const organization = createRoute({
  getParentRoute: () => app,
  path: '/orgs/$organization',
  component: lazyRouteComponent(() => import('../organization/organization-gate.tsx'), 'OrganizationGate'),
});
