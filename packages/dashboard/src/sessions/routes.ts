import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentLayout } from '../agents/layouts.ts';
import { agentNamesQuery } from '../agents/queries.ts';
import { conversationQuery } from '../conversation/queries.ts';
import { logQuery } from '../logs/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch, prefetchInOrder } from '../routing/prefetch.ts';
import { readNumberParameters } from '../routing/search-values.ts';
import { newestSessionsQuery, sessionQuery, sessionRecordQuery } from './queries.ts';
import { parseSessionFilter } from './session-filter.ts';

type SessionSearchParameters = {
  /** The zoomed part of the session, in Unix seconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** A moment of the conversation, in seconds since the start of the session. */
  readonly at?: number | undefined;
  /** The same as a Unix time in seconds, for links from pages that do not know the start of the session. */
  readonly moment?: number | undefined;
};

const parseSessionSearchParameters = (search: Readonly<Record<string, unknown>>): SessionSearchParameters =>
  readNumberParameters(search, ['from', 'to', 'at', 'moment']);

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
    loader: (loading) => {
      const { organization, sessionId } = loading.params;
      const { from, to } = parseSessionSearchParameters(loading.location.search);
      prefetchInOrder(loading, sessionQuery(organization, sessionId), (session) =>
        session === null
          ? []
          : [
              sessionRecordQuery(organization, session.serviceId, sessionId),
              conversationQuery(organization, session.serviceId, sessionId),
              logQuery(organization, session.serviceId, { session: sessionId, from, to }),
            ],
      );
    },
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
