import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import {
  authorizationPageRoute,
  deviceLoginRoute,
  joinOrganizationRoute,
  openIdRoute,
  resetPasswordRoute,
  signInRoute,
} from './routes/accounts.ts';
import { appLayout, organizationLayout, shellLayout, signedInLayout, signedInShellLayout } from './routes/frames.ts';
import {
  agentRoute,
  agentsRoute,
  deployRoute,
  logsRoute,
  organizationsRoute,
  overviewRoute,
  secretSetRoute,
  secretsRoute,
  sessionRoute,
  sessionsRoute,
} from './routes/organization.ts';
import { rootRoute } from './routes/root.tsx';
import {
  accountRoute,
  apiKeysRoute,
  auditRoute,
  generalRoute,
  membersRoute,
  organizationSettingsRoute,
  personalSettingsIndexRoute,
  personalSettingsRoute,
  settingsIndexRoute,
  tokensRoute,
} from './routes/settings.ts';
import { organizationTalkRoute, talkAgentsRoute, talkRoute } from './routes/talk.ts';
import { HomePage } from './shell/home-page.tsx';

const home = createRoute({ getParentRoute: () => shellLayout, path: '/', component: HomePage });
const reference = createRoute({
  getParentRoute: () => rootRoute,
  path: '/docs',
  component: lazyRouteComponent(() => import('./reference/api-reference-page.tsx'), 'ApiReferencePage'),
});

const routes = rootRoute.addChildren([
  reference,
  shellLayout.addChildren([home, talkRoute, signInRoute, openIdRoute, joinOrganizationRoute, resetPasswordRoute]),
  signedInLayout.addChildren([
    signedInShellLayout.addChildren([deviceLoginRoute, authorizationPageRoute]),
    appLayout.addChildren([
      organizationsRoute,
      organizationLayout.addChildren([
        overviewRoute,
        agentsRoute,
        agentRoute,
        deployRoute,
        secretsRoute,
        secretSetRoute,
        talkAgentsRoute,
        organizationTalkRoute,
        sessionsRoute,
        sessionRoute,
        logsRoute,
        organizationSettingsRoute.addChildren([
          settingsIndexRoute,
          generalRoute,
          apiKeysRoute,
          membersRoute,
          auditRoute,
        ]),
      ]),
      personalSettingsRoute.addChildren([personalSettingsIndexRoute, accountRoute, tokensRoute]),
    ]),
  ]),
]);

export function createAppRouter(queries: QueryClient) {
  return createRouter({ routeTree: routes, context: { queries }, defaultPreload: 'intent', scrollRestoration: true });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
