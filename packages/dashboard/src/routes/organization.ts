import { logLevels } from '@bothost/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { LogSearch } from '../logs/log-filter.ts';
import type { SessionFilter } from '../sessions/session-filter.ts';
import { app, organization } from './frames.ts';
import { number, text } from './search-values.ts';

export const organizations = createRoute({
  getParentRoute: () => app,
  path: '/orgs',
  component: lazyRouteComponent(() => import('../organization/organizations-page.tsx'), 'OrganizationsPage'),
});
export const overview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
});

export const agents = createRoute({
  getParentRoute: () => organization,
  path: '/agents',
  component: lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentsPage'),
});
export const agent = createRoute({
  getParentRoute: () => organization,
  path: '/agents/$agent',
  validateSearch: ({ from, to }): { from?: string; to?: string } => ({
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof to === 'string' ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('../agents/agent-page.tsx'), 'AgentPage'),
});
export const deploy = createRoute({
  getParentRoute: () => organization,
  path: '/deploy',
  component: lazyRouteComponent(() => import('../deploy/deploy-page.tsx'), 'DeployPage'),
});
export const secrets = createRoute({
  getParentRoute: () => organization,
  path: '/secrets',
  component: lazyRouteComponent(() => import('../secrets/secrets-page.tsx'), 'SecretsPage'),
});
export const secretSet = createRoute({
  getParentRoute: () => organization,
  path: '/secrets/$set',
  component: lazyRouteComponent(() => import('../secrets/secret-set-page.tsx'), 'SecretSetPage'),
});

export const sessions = createRoute({
  getParentRoute: () => organization,
  path: '/sessions',
  validateSearch: ({ agent, status, since, duration }): SessionFilter => ({
    agent: text(agent),
    status: text(status),
    since: text(since),
    duration: text(duration),
  }),
  component: lazyRouteComponent(() => import('../sessions/sessions-page.tsx'), 'SessionsPage'),
});
export const session = createRoute({
  getParentRoute: () => organization,
  path: '/sessions/$sessionId',
  validateSearch: ({ from, to }): { from?: number | undefined; to?: number | undefined } => ({
    from: number(from),
    to: number(to),
  }),
  component: lazyRouteComponent(() => import('../sessions/session-page.tsx'), 'SessionPage'),
});
export const logs = createRoute({
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
  component: lazyRouteComponent(() => import('../logs/logs-page.tsx'), 'LogsPage'),
});
