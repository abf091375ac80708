import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentLayout } from '../agents/layouts.ts';
import { agentNamesQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { readNumberParameter } from '../routing/search-values.ts';
import { newestSessionsQuery, sessionQuery } from './queries.ts';
import { parseSessionFilter } from './session-filter.ts';

type SessionSearchParameters = {
  /** The zoomed part of the session, in Unix seconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** A moment of the conversation, in seconds since the start of the session. */
  readonly at?: number | undefined;
};

const parseSessionSearchParameters = ({
  from,
  to,
  at,
}: Readonly<Record<string, unknown>>): SessionSearchParameters => ({
  from: readNumberParameter(from),
  to: readNumberParameter(to),
  at: readNumberParameter(at),
});

export const sessionRoutes = [
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/sessions',
    validateSearch: parseSessionFilter,
    loader: (loading) => {
      const { organization } = loading.params;
      const filter = parseSessionFilter(loading.location.search);
      prefetch(loading, newestSessionsQuery(organization, filter), agentNamesQuery(organization));
    },
    component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/sessions/$sessionId',
    validateSearch: parseSessionSearchParameters,
    loader: (loading) => prefetch(loading, sessionQuery(loading.params.organization, loading.params.sessionId)),
    component: lazyRouteComponent(() => import('./session-page.tsx'), 'SessionPage'),
  }),
] as const;

export const agentSessionsRoute = createRoute({
  getParentRoute: () => agentLayout,
  path: '/sessions',
  validateSearch: parseSessionFilter,
  loader: (loading) => {
    const { organization, agent } = loading.params;
    const filter = { ...parseSessionFilter(loading.location.search), agent };
    prefetch(loading, newestSessionsQuery(organization, filter));
  },
  component: lazyRouteComponent(() => import('./agent-sessions-page.tsx'), 'AgentSessionsPage'),
});
