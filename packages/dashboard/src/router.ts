import type { QueryClient } from '@tanstack/react-query';
import { createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { shellLayout, signedInLayout, signedInShellLayout } from './accounts/layouts.ts';
import { accountRoutes, loginApprovalRoutes } from './accounts/routes.ts';
import { agentLayout } from './agents/layouts.ts';
import { agentsRoute, agentTabRoutes } from './agents/routes.ts';
import { buildRoute } from './builds/routes.ts';
import { deployRoute } from './deploy/routes.ts';
import { deploymentRoute } from './deployments/routes.ts';
import { agentLogsRoute, logsRoute } from './logs/routes.ts';
import { appLayout, organizationLayout } from './organization/layouts.ts';
import { organizationsRoute } from './organization/routes.ts';
import { overviewRoute } from './overview/routes.ts';
import { NotFound } from './routing/not-found.tsx';
import { rootRoute } from './routing/root.tsx';
import { secretRoutes } from './secrets/routes.ts';
import { agentSessionsRoute, sessionRoutes } from './sessions/routes.ts';
import { organizationSettingsRoutes, personalSettingsRoutes } from './settings/routes.ts';
import { homeRoute } from './shell/routes.ts';
import { Shell } from './shell/shell.tsx';
import { organizationTalkRoutes, talkRoute } from './talk/routes.ts';

// The features whose pages these frames surround cannot import them, because the frames link to the features.
shellLayout.update({ component: Shell });
signedInShellLayout.update({ component: Shell });
appLayout.update({ component: lazyRouteComponent(() => import('./shell/app-shell.tsx'), 'AppShell') });

const routes = rootRoute.addChildren([
  shellLayout.addChildren([homeRoute, talkRoute, ...accountRoutes]),
  signedInLayout.addChildren([
    signedInShellLayout.addChildren(loginApprovalRoutes),
    appLayout.addChildren([
      organizationsRoute,
      organizationLayout.addChildren([
        overviewRoute,
        agentsRoute,
        agentLayout.addChildren([...agentTabRoutes, agentSessionsRoute, agentLogsRoute, deploymentRoute]),
        deployRoute,
        buildRoute,
        ...secretRoutes,
        ...organizationTalkRoutes,
        ...sessionRoutes,
        logsRoute,
        organizationSettingsRoutes,
      ]),
      personalSettingsRoutes,
    ]),
  ]),
]);

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { queries },
    defaultPreload: 'intent',
    // Loaders run again when a person opens a page whose link was pointed at: only then do they start queries.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
