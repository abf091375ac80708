import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { parseTalkSearchParameters } from '../talk/transport-names.ts';
import { organizationLayout, shellLayout } from './frames.ts';

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
  component: lazyRouteComponent(() => import('../talk/talk-page.tsx'), 'TalkPage'),
});
export const talkAgentsRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/talk',
  component: lazyRouteComponent(() => import('../talk/talk-agents-page.tsx'), 'TalkAgentsPage'),
});
export const organizationTalkRoute = createRoute({
  getParentRoute: () => organizationLayout,
  path: '/talk/$agent',
  validateSearch: parseTalkSearchParameters,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('../talk/organization-talk-page.tsx'), 'OrganizationTalkPage'),
});
