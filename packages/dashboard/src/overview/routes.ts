import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentListQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { defaultPeriod, parsePeriodSearchParameters } from '../statistics/period.ts';
import { problemsQuery, statisticsQuery } from '../statistics/queries.ts';
import { overviewQuery, recentSessionsQuery } from './queries.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/',
  validateSearch: parsePeriodSearchParameters,
  loader: (loading) => {
    const { organization } = loading.params;
    const { period = defaultPeriod } = parsePeriodSearchParameters(loading.location.search);
    prefetch(
      loading,
      overviewQuery(organization),
      statisticsQuery(organization, period),
      problemsQuery(organization, period),
      recentSessionsQuery(organization),
      agentListQuery(organization),
    );
  },
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
