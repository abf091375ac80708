import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { shellLayout } from '../accounts/layouts.ts';
import { agentNamesQuery } from '../agents/queries.ts';
import { organizationLayout } from '../organization/layouts.ts';
import { prefetch } from '../routing/prefetch.ts';
import { agentReadinessQuery } from './queries.ts';
import { parseTalkSearchParameters } from './transport-names.ts';

/**
 * Whether the document was loaded at the URL of a talk page. Only such documents have the content security policy that audio
 * worklets need; from other pages, the talk page must be loaded as a new document.
 */
const isTalkDocument = /^(\/talk|\/orgs\/[^/]+\/talk)\/[^/]+$/.test(location.pathname);
const loadTalkDocument = ({ location: { href } }: { readonly location: { readonly href: string } }) => {
  if (!isTalkDocument) throw redirect({ href, reloadDocument: true });
};

export const talkRoute = createRoute({
  getParentRoute: () => shellLayout,
  path: '/talk/$agent',
  validateSearch: parseTalkSearchParameters,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('./talk-page.tsx'), 'TalkPage'),
});
export const organizationTalkRoutes = [
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/talk',
    loader: (loading) => prefetch(loading, agentNamesQuery(loading.params.organization)),
    component: lazyRouteComponent(() => import('./talk-agents-page.tsx'), 'TalkAgentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationLayout,
    path: '/talk/$agent',
    validateSearch: parseTalkSearchParameters,
    beforeLoad: loadTalkDocument,
    loader: (loading) => {
      const { organization, agent } = loading.params;
      prefetch(loading, agentNamesQuery(organization), agentReadinessQuery({ organization }, agent));
    },
    component: lazyRouteComponent(() => import('./organization-talk-page.tsx'), 'OrganizationTalkPage'),
  }),
] as const;
