import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { agentQuery } from './queries.ts';

/** Parent route of an agent's tabs. */
export const agentLayout = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/agents/$agent',
  loader: (loading) => prefetch(loading, agentQuery(loading.params.organization, loading.params.agent)),
  component: lazyRouteComponent(() => import('./agent-layout.tsx'), 'AgentLayout'),
});
