import { logLevels } from '@bothost/contract';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { safeRedirect } from './accounts/redirect.ts';
import { SignedIn } from './accounts/signed-in.tsx';
import { describeError } from './api.ts';
import { Alert } from './components/alert.tsx';
import { Button } from './components/button.tsx';
import { Card } from './components/card.tsx';
import type { LogSearch } from './logs/log-filter.ts';
import type { SessionFilter } from './sessions/session-filter.ts';
import type { AuditFilter } from './settings/audit-filter.ts';
import { HomePage } from './shell/home-page.tsx';
import { Shell } from './shell/shell.tsx';
import { parseTalkSearch } from './talk/transport-names.ts';

const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <div className="p-4">
      <Card title="Something went wrong">
        <Alert>{describeError(error)}</Alert>
        <Button onClick={reset}>Try again</Button>
      </Card>
    </div>
  ),
});
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });
const app = createRoute({
  getParentRoute: () => signedIn,
  id: 'app',
  component: lazyRouteComponent(() => import('./shell/app-shell.tsx'), 'AppShell'),
});
const signedInShell = createRoute({ getParentRoute: () => signedIn, id: 'shell', component: Shell });

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

const home = createRoute({ getParentRoute: () => shell, path: '/', component: HomePage });
/** Audio worklets need the content security policy of a document that was loaded at the address of a talk page. */
const isTalkDocument = /^(\/talk|\/orgs\/[^/]+\/talk)\/[^/]+$/.test(location.pathname);
const loadTalkDocument = ({ location: { href } }: { readonly location: { readonly href: string } }) => {
  if (!isTalkDocument) throw redirect({ href, reloadDocument: true });
};
const talk = createRoute({
  getParentRoute: () => shell,
  path: '/talk/$agent',
  validateSearch: parseTalkSearch,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('./talk/talk-page.tsx'), 'TalkPage'),
});
const signIn = createRoute({
  getParentRoute: () => shell,
  path: '/sign-in',
  validateSearch: (search): { redirect?: string } => {
    const path = safeRedirect(search['redirect']);
    return path === '/' ? {} : { redirect: path };
  },
  component: lazyRouteComponent(() => import('./accounts/sign-in-page.tsx'), 'SignInPage'),
});
const openId = createRoute({
  getParentRoute: () => shell,
  path: '/sign-in/openid',
  validateSearch: ({ code, state, iss, error }) => ({
    code: text(code),
    state: text(state),
    iss: text(iss),
    error: text(error),
  }),
  component: lazyRouteComponent(() => import('./accounts/openid-page.tsx'), 'OpenIdPage'),
});
const join = createRoute({
  getParentRoute: () => shell,
  path: '/join',
  component: lazyRouteComponent(() => import('./accounts/join-page.tsx'), 'JoinPage'),
});
const resetPassword = createRoute({
  getParentRoute: () => shell,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./accounts/reset-password-page.tsx'), 'ResetPasswordPage'),
});
const device = createRoute({
  getParentRoute: () => signedInShell,
  path: '/device',
  validateSearch: ({ code }): { code?: string } => (typeof code === 'string' ? { code } : {}),
  component: lazyRouteComponent(() => import('./accounts/device-page.tsx'), 'DevicePage'),
});
const authorize = createRoute({
  getParentRoute: () => signedInShell,
  path: '/authorize',
  validateSearch: ({ response_type, client_id, redirect_uri, code_challenge, code_challenge_method, state }) => ({
    response_type: text(response_type),
    client_id: text(client_id),
    redirect_uri: text(redirect_uri),
    code_challenge: text(code_challenge),
    code_challenge_method: text(code_challenge_method),
    state: text(state),
  }),
  component: lazyRouteComponent(() => import('./accounts/authorize-page.tsx'), 'AuthorizePage'),
});
const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./reference/reference-page.tsx'), 'ReferencePage'),
});

const organizations = createRoute({
  getParentRoute: () => app,
  path: '/orgs',
  component: lazyRouteComponent(() => import('./organization/organizations-page.tsx'), 'OrganizationsPage'),
});
const organization = createRoute({
  getParentRoute: () => app,
  path: '/orgs/$organization',
  component: lazyRouteComponent(() => import('./organization/organization-gate.tsx'), 'OrganizationGate'),
});
const overview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});
const talkAgents = createRoute({
  getParentRoute: () => organization,
  path: '/talk',
  component: lazyRouteComponent(() => import('./talk/talk-agents-page.tsx'), 'TalkAgentsPage'),
});
const organizationTalk = createRoute({
  getParentRoute: () => organization,
  path: '/talk/$agent',
  validateSearch: parseTalkSearch,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('./talk/organization-talk-page.tsx'), 'OrganizationTalkPage'),
});

const sessions = createRoute({
  getParentRoute: () => organization,
  path: '/sessions',
  validateSearch: ({ agent, status, since, duration }): SessionFilter => ({
    agent: text(agent),
    status: text(status),
    since: text(since),
    duration: text(duration),
  }),
  component: lazyRouteComponent(() => import('./sessions/sessions-page.tsx'), 'SessionsPage'),
});
const session = createRoute({
  getParentRoute: () => organization,
  path: '/sessions/$sessionId',
  validateSearch: ({ from, to }): { from?: number | undefined; to?: number | undefined } => ({
    from: number(from),
    to: number(to),
  }),
  component: lazyRouteComponent(() => import('./sessions/session-page.tsx'), 'SessionPage'),
});
const logs = createRoute({
  getParentRoute: () => organization,
  path: '/logs',
  validateSearch: ({ agent, session, query, level, since, at }): LogSearch => ({
    agent: text(agent),
    session: text(session),
    query: text(query),
    level: logLevels.find((known) => known === level),
    since: text(since),
    at: number(at),
  }),
  component: lazyRouteComponent(() => import('./logs/logs-page.tsx'), 'LogsPage'),
});

const agents = createRoute({
  getParentRoute: () => organization,
  path: '/agents',
  component: lazyRouteComponent(() => import('./agents/agents-page.tsx'), 'AgentsPage'),
});
const agent = createRoute({
  getParentRoute: () => organization,
  path: '/agents/$agent',
  validateSearch: ({ from, to }): { from?: string; to?: string } => ({
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof to === 'string' ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('./agents/agent-page.tsx'), 'AgentPage'),
});
const deploy = createRoute({
  getParentRoute: () => organization,
  path: '/deploy',
  component: lazyRouteComponent(() => import('./deploy/deploy-page.tsx'), 'DeployPage'),
});
const secrets = createRoute({
  getParentRoute: () => organization,
  path: '/secrets',
  component: lazyRouteComponent(() => import('./secrets/secrets-page.tsx'), 'SecretsPage'),
});
const secretSet = createRoute({
  getParentRoute: () => organization,
  path: '/secrets/$set',
  component: lazyRouteComponent(() => import('./secrets/secret-set-page.tsx'), 'SecretSetPage'),
});
const settingsLayout = lazyRouteComponent(() => import('./settings/settings-layout.tsx'), 'SettingsLayout');
const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: settingsLayout,
});
const settingsStart = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/orgs/$organization/settings/general', params, replace: true });
  },
});
const general = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/general',
  component: lazyRouteComponent(() => import('./settings/general-page.tsx'), 'GeneralPage'),
});
const keys = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/keys',
  validateSearch: ({ kind }): { kind?: 'public' } => (kind === 'public' ? { kind } : {}),
  component: lazyRouteComponent(() => import('./settings/keys-page.tsx'), 'KeysPage'),
});
const members = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/members',
  component: lazyRouteComponent(() => import('./settings/members-page.tsx'), 'MembersPage'),
});
const audit = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/audit',
  validateSearch: ({ action, object, result, since }): AuditFilter => ({
    action: text(action),
    object: text(object),
    result: text(result),
    since: text(since),
  }),
  component: lazyRouteComponent(() => import('./settings/audit-page.tsx'), 'AuditPage'),
});
const personalSettings = createRoute({ getParentRoute: () => app, path: '/settings', component: settingsLayout });
const personalSettingsStart = createRoute({
  getParentRoute: () => personalSettings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account', replace: true });
  },
});
const account = createRoute({
  getParentRoute: () => personalSettings,
  path: '/account',
  component: lazyRouteComponent(() => import('./settings/account-page.tsx'), 'AccountPage'),
});
const tokens = createRoute({
  getParentRoute: () => personalSettings,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./settings/tokens-page.tsx'), 'TokensPage'),
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

function NotFound() {
  return (
    <div className="p-4 pt-16">
      <Card title="Page not found" lead="No page exists at this address.">
        <Button asChild>
          <Link to="/">Go to the start page</Link>
        </Button>
      </Card>
    </div>
  );
}
