import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentLayout } from '../agents/layouts.ts';
import { deploymentQuery } from '../agents/queries.ts';
import { prefetch } from '../routing/prefetch.ts';
import { readTextParameters } from '../routing/search-values.ts';
import { newestSessionsQuery } from '../sessions/queries.ts';
import { statisticsQuery } from '../statistics/queries.ts';
import { formerDeploymentQuery } from './queries.ts';

/** `file`: the path of the file whose lines are shown. */
type DeploymentSearchParameters = { readonly file?: string | undefined };

export const deploymentRoute = createRoute({
  getParentRoute: () => agentLayout,
  path: '/deployments/$deployment',
  validateSearch: (search: Readonly<Record<string, unknown>>): DeploymentSearchParameters =>
    readTextParameters(search, ['file']),
  loader: (loading) => {
    const { organization, agent, deployment } = loading.params;
    const address = { organization, agentName: agent, deploymentId: deployment };
    prefetch(
      loading,
      deploymentQuery(organization, agent, deployment),
      formerDeploymentQuery(address),
      statisticsQuery(organization, 'week', agent),
      newestSessionsQuery(organization, { agent, deployment }),
    );
  },
  component: lazyRouteComponent(() => import('./deployment-page.tsx'), 'DeploymentPage'),
});
