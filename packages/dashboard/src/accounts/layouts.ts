import { createRoute } from '@tanstack/react-router';
import { prefetch } from '../routing/prefetch.ts';
import { rootRoute } from '../routing/root.tsx';
import { userQuery } from './session.ts';
import { SignedInGuard } from './signed-in.tsx';

/** The parent of pages that need no organization. `router.ts` sets the component of this layout, a header. */
export const shellLayout = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  loader: (loading) => prefetch(loading, userQuery),
});

/** The parent of pages for signed-in people. */
export const signedInLayout = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  loader: (loading) => prefetch(loading, userQuery),
  component: SignedInGuard,
});

/** The parent of pages for signed-in people that need no organization. `router.ts` sets its component, a header. */
export const signedInShellLayout = createRoute({ getParentRoute: () => signedInLayout, id: 'shell' });
