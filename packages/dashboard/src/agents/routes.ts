import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { readTextParameters } from '../routing/search-values.ts';
import { secretListQuery } from '../secrets/queries.ts';
import { defaultPeriod, type PeriodSearchParameters, parsePeriodSearchParameters } from '../statistics/period.ts';
import { problemsQuery, statisticsQuery } from '../statistics/queries.ts';
import { agentLayout } from './layouts.ts';
import { agentListQuery, deploymentsQuery } from './queries.ts';

type ComparisonSearchParameters = { readonly from?: string | undefined; readonly to?: string | undefined };

const parseComparisonSearchParameters = (search: Readonly<Record<string, unknown>>): ComparisonSearchParameters =>
  readTextParameters(search, ['from', 'to']);

export const agentsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/agents',
  loader: (loading) => prefetch(loading, agentListQuery(loading.params.organization)),
  component: lazyRouteComponent(() => import('./agents-page.tsx'), 'AgentsPage'),
});

/** The tabs of an agent that this folder has. */
export const agentTabRoutes = [
  createRoute({
    getParentRoute: () => agentLayout,
    path: '/',
    validateSearch: (
      search: Readonly<Record<string, unknown>>,
    ): PeriodSearchParameters & ComparisonSearchParameters => ({
      ...parsePeriodSearchParameters(search),
      ...parseComparisonSearchParameters(search),
    }),
    beforeLoad: ({ params, search: { from, to } }) => {
      // Earlier versions compared deployments on this page, and people have kept links to comparisons.
      if (from !== undefined && to !== undefined)
        throw redirect({ to: '/orgs/$organization/agents/$agent/deployments', params, search: { from, to } });
    },
    loader: (loading) => {
      const { organization, agent } = loading.params;
      const { period = defaultPeriod } = parsePeriodSearchParameters(loading.location.search);
      prefetch(loading, statisticsQuery(organization, period, agent), problemsQuery(organization, period, agent));
    },
    component: lazyRouteComponent(() => import('./agent-overview-page.tsx'), 'AgentOverviewPage'),
  }),
  createRoute({
    getParentRoute: () => agentLayout,
    path: '/deployments',
    validateSearch: parseComparisonSearchParameters,
    loader: (loading) => {
      const { organization, agent } = loading.params;
      prefetch(loading, deploymentsQuery(organization, agent), statisticsQuery(organization, 'week', agent));
    },
    component: lazyRouteComponent(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
  }),
  createRoute({
    getParentRoute: () => agentLayout,
    path: '/settings',
    loader: (loading) => prefetch(loading, secretListQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./agent-settings-page.tsx'), 'AgentSettingsPage'),
  }),
] as const;
