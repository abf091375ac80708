import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { parseTalkSearch } from '../talk/transport-names.ts';
import { organization, shell } from './frames.ts';

/** Audio worklets need the content security policy of a document that was loaded at the address of a talk page. */
const isTalkDocument = /^(\/talk|\/orgs\/[^/]+\/talk)\/[^/]+$/.test(location.pathname);
const loadTalkDocument = ({ location: { href } }: { readonly location: { readonly href: string } }) => {
  if (!isTalkDocument) throw redirect({ href, reloadDocument: true });
};

export const talk = createRoute({
  getParentRoute: () => shell,
  path: '/talk/$agent',
  validateSearch: parseTalkSearch,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('../talk/talk-page.tsx'), 'TalkPage'),
});
export const talkAgents = createRoute({
  getParentRoute: () => organization,
  path: '/talk',
  component: lazyRouteComponent(() => import('../talk/talk-agents-page.tsx'), 'TalkAgentsPage'),
});
export const organizationTalk = createRoute({
  getParentRoute: () => organization,
  path: '/talk/$agent',
  validateSearch: parseTalkSearch,
  beforeLoad: loadTalkDocument,
  component: lazyRouteComponent(() => import('../talk/organization-talk-page.tsx'), 'OrganizationTalkPage'),
});
