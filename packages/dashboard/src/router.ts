import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { authorize, device, join, openId, resetPassword, signIn } from './routes/accounts.ts';
import { app, organization, shell, signedIn, signedInShell } from './routes/frames.ts';
import {
  agent,
  agents,
  deploy,
  logs,
  organizations,
  overview,
  secretSet,
  secrets,
  session,
  sessions,
} from './routes/organization.ts';
import { root } from './routes/root.tsx';
import {
  account,
  audit,
  general,
  keys,
  members,
  organizationSettings,
  personalSettings,
  personalSettingsStart,
  settingsStart,
  tokens,
} from './routes/settings.ts';
import { organizationTalk, talk, talkAgents } from './routes/talk.ts';
import { HomePage } from './shell/home-page.tsx';

const home = createRoute({ getParentRoute: () => shell, path: '/', component: HomePage });
const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./reference/reference-page.tsx'), 'ReferencePage'),
});

const routes = root.addChildren([
  reference,
  shell.addChildren([home, talk, signIn, openId, join, resetPassword]),
  signedIn.addChildren([
    signedInShell.addChildren([device, authorize]),
    app.addChildren([
      organizations,
      organization.addChildren([
        overview,
        agents,
        agent,
        deploy,
        secrets,
        secretSet,
        talkAgents,
        organizationTalk,
        sessions,
        session,
        logs,
        organizationSettings.addChildren([settingsStart, general, keys, members, audit]),
      ]),
      personalSettings.addChildren([personalSettingsStart, account, tokens]),
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
