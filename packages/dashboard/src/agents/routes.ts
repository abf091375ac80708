import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { readTextParameter } from '../routing/search-values.ts';
import { secretListQuery } from '../secrets/queries.ts';
import { agentListQuery, agentQuery, deploymentsQuery } from './queries.ts';

export const agentRoutes = [
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/agents',
    loader: (loading) => prefetch(loading, agentListQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./agents-page.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/agents/$agent',
    validateSearch: ({ from, to }): { from?: string | undefined; to?: string | undefined } => ({
      from: readTextParameter(from),
      to: readTextParameter(to),
    }),
    loader: (loading) => {
      const { organization, agent } = loading.params;
      prefetch(
        loading,
        agentQuery(organization, agent),
        deploymentsQuery(organization, agent),
        secretListQuery(organization),
      );
    },
    component: lazyRouteComponent(() => import('./agent-page.tsx'), 'AgentPage'),
  }),
] as const;
