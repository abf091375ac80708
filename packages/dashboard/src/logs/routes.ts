import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentNamesQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { parseLogSearchParameters } from './log-filter.ts';
import { agentLogQuery } from './queries.ts';

export const logsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/logs',
  validateSearch: parseLogSearchParameters,
  loader: (loading) => {
    const { organization } = loading.params;
    const { agent, at, ...filter } = parseLogSearchParameters(loading.location.search);
    prefetch(loading, agentNamesQuery(organization));
    if (agent !== undefined) prefetch(loading, agentLogQuery(organization, agent, filter, at));
  },
  component: lazyRouteComponent(() => import('./logs-page.tsx'), 'LogsPage'),
});
