import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentListQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { organizationPropertiesQuery, regionsQuery } from '../organization/queries.ts';
import { prefetch } from '../routing/prefetch.ts';
import { secretListQuery } from '../secrets/queries.ts';

export const deployRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/deploy',
  loader: (loading) => {
    const { organization } = loading.params;
    prefetch(
      loading,
      agentListQuery(organization),
      organizationPropertiesQuery(organization),
      secretListQuery(organization),
      regionsQuery(organization),
    );
  },
  component: lazyRouteComponent(() => import('./deploy-page.tsx'), 'DeployPage'),
});
