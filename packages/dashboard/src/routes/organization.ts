import { logLevels } from '@bothost/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { LogSearchParameters } from '../logs/log-filter.ts';
import type { SessionFilter } from '../sessions/session-filter.ts';
import { appLayout, organizationLayout } from './frames.ts';
import { readNumberParameter, readTextParameter } from './search-values.ts';

export const organizationsRoute = createRoute({
  getParentRoute: () => appLayout,
  path: '/orgs',
  component: lazyRouteComponent(() => import('../organization/organizations-page.tsx'), 'OrganizationsPage'),
});
export const overviewRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/',
  component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
});

export const agentsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/agents',
  component: lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentsPage'),
});
export const agentRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/agents/$agent',
  validateSearch: ({ from, to }): { from?: string; to?: string } => ({
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof to === 'string' ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('../agents/agent-page.tsx'), 'AgentPage'),
});
export const deployRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/deploy',
  component: lazyRouteComponent(() => import('../deploy/deploy-page.tsx'), 'DeployPage'),
});
export const secretsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/secrets',
  component: lazyRouteComponent(() => import('../secrets/secrets-page.tsx'), 'SecretsPage'),
});
export const secretSetRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/secrets/$set',
  component: lazyRouteComponent(() => import('../secrets/secret-set-page.tsx'), 'SecretSetPage'),
});

export const sessionsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/sessions',
  validateSearch: ({ agent, status, since, duration }): SessionFilter => ({
    agent: readTextParameter(agent),
    status: readTextParameter(status),
    since: readTextParameter(since),
    duration: readTextParameter(duration),
  }),
  component: lazyRouteComponent(() => import('../sessions/sessions-page.tsx'), 'SessionsPage'),
});
export const sessionRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/sessions/$sessionId',
  validateSearch: ({ from, to }): { from?: number | undefined; to?: number | undefined } => ({
    from: readNumberParameter(from),
    to: readNumberParameter(to),
  }),
  component: lazyRouteComponent(() => import('../sessions/session-page.tsx'), 'SessionPage'),
});
export const logsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/logs',
  validateSearch: ({ agent, session, query, level, since, at }): LogSearchParameters => ({
    agent: readTextParameter(agent),
    session: readTextParameter(session),
    query: readTextParameter(query),
    level: logLevels.find((known) => known === level),
    since: readTextParameter(since),
    at: readNumberParameter(at),
  }),
  component: lazyRouteComponent(() => import('../logs/logs-page.tsx'), 'LogsPage'),
});
