import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentLayout } from '../agents/layouts.ts';
import { agentNamesQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { parseLogSearchParameters } from './log-filter.ts';
import { logHistogramQuery, logQuery } from './queries.ts';

export const logsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/logs',
  validateSearch: parseLogSearchParameters,
  loader: (loading) => {
    const { organization } = loading.params;
    const { agent, at, ...filter } = parseLogSearchParameters(loading.location.search);
    prefetch(
      loading,
      agentNamesQuery(organization),
      logQuery(organization, agent, filter, at),
      logHistogramQuery(organization, agent, filter),
    );
  },
  component: lazyRouteComponent(() => import('./logs-page.tsx'), 'LogsPage'),
});

export const agentLogsRoute = createRoute({
  getParentRoute: () => agentLayout,
  path: '/logs',
  validateSearch: parseLogSearchParameters,
  loader: (loading) => {
    const { organization, agent } = loading.params;
    const { agent: _, at, ...filter } = parseLogSearchParameters(loading.location.search);
    prefetch(loading, logQuery(organization, agent, filter, at), logHistogramQuery(organization, agent, filter));
  },
  component: lazyRouteComponent(() => import('./agent-logs-page.tsx'), 'AgentLogsPage'),
});
