import { logLevels } from '@bothost/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { LogSearch } from '../logs/log-filter.ts';
import type { SessionFilter } from '../sessions/session-filter.ts';
import { appFrame, organizationFrame } from './frames.ts';
import { readNumber, readText } from './search-values.ts';

export const organizationsRoute = createRoute({
  getParentRoute: () => appFrame,
  path: '/orgs',
  component: lazyRouteComponent(() => import('../organization/organizations-page.tsx'), 'OrganizationsPage'),
});
export const overviewRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/',
  component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
});

export const agentsRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/agents',
  component: lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentsPage'),
});
export const agentRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/agents/$agent',
  validateSearch: ({ from, to }): { from?: string; to?: string } => ({
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof to === 'string' ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('../agents/agent-page.tsx'), 'AgentPage'),
});
export const deployRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/deploy',
  component: lazyRouteComponent(() => import('../deploy/deploy-page.tsx'), 'DeployPage'),
});
export const secretsRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/secrets',
  component: lazyRouteComponent(() => import('../secrets/secrets-page.tsx'), 'SecretsPage'),
});
export const secretSetRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/secrets/$set',
  component: lazyRouteComponent(() => import('../secrets/secret-set-page.tsx'), 'SecretSetPage'),
});

export const sessionsRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/sessions',
  validateSearch: ({ agent, status, since, duration }): SessionFilter => ({
    agent: readText(agent),
    status: readText(status),
    since: readText(since),
    duration: readText(duration),
  }),
  component: lazyRouteComponent(() => import('../sessions/sessions-page.tsx'), 'SessionsPage'),
});
export const sessionRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/sessions/$sessionId',
  validateSearch: ({ from, to }): { from?: number | undefined; to?: number | undefined } => ({
    from: readNumber(from),
    to: readNumber(to),
  }),
  component: lazyRouteComponent(() => import('../sessions/session-page.tsx'), 'SessionPage'),
});
export const logsRoute = createRoute({
  getParentRoute: () => organizationFrame,
  path: '/logs',
  validateSearch: ({ agent, session, query, level, since, at }): LogSearch => ({
    agent: readText(agent),
    session: readText(session),
    query: readText(query),
    level: logLevels.find((known) => known === level),
    since: readText(since),
    at: readNumber(at),
  }),
  component: lazyRouteComponent(() => import('../logs/logs-page.tsx'), 'LogsPage'),
});
