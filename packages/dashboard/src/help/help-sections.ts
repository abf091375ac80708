import type { RegisteredRouter } from '@tanstack/react-router';

/** The section of the help for a page and the pages below it, with the longest matching path. A test checks that each exists. */
export const helpSections = {
  '/': 'sessions#talk-from-your-own-page',
  '/authorize': 'accounts#the-command-line',
  '/device': 'accounts#the-command-line',
  '/join': 'accounts#the-first-account',
  '/reset-password': 'accounts#passwords-and-sessions',
  '/sign-in': 'accounts#passwords-and-sessions',
  '/sign-in/openid': 'accounts#openid-connect',
  '/talk/$agent': 'sessions#talk-from-your-own-page',
  '/orgs': 'accounts#organizations-and-roles',
  '/orgs/$organization': 'conversations#turns-and-response-times',
  '/orgs/$organization/agents': 'deploy',
  '/orgs/$organization/agents/$agent': 'bots#life-of-an-instance',
  '/orgs/$organization/agents/$agent/deployments': 'deploy#a-rollback',
  '/orgs/$organization/agents/$agent/deployments/$deployment': 'deploy#a-broken-version',
  '/orgs/$organization/agents/$agent/logs': 'conversations#logs',
  '/orgs/$organization/agents/$agent/sessions': 'sessions#the-record-of-a-session',
  '/orgs/$organization/agents/$agent/settings': 'deploy#deploytoml',
  '/orgs/$organization/builds/$build': 'bots#how-a-project-is-prepared',
  '/orgs/$organization/deploy': 'deploy#in-the-browser',
  '/orgs/$organization/logs': 'conversations#logs',
  '/orgs/$organization/secrets': 'secrets',
  '/orgs/$organization/secrets/$set': 'secrets#compare-and-roll-back',
  '/orgs/$organization/sessions': 'sessions#the-record-of-a-session',
  '/orgs/$organization/sessions/$sessionId': 'conversations#the-page-of-a-session',
  '/orgs/$organization/settings': 'accounts#organizations-and-roles',
  '/orgs/$organization/settings/alerts': 'webhooks#alerts',
  '/orgs/$organization/settings/audit': 'operations/vault-and-audit#the-audit-log',
  '/orgs/$organization/settings/webhooks': 'webhooks',
  '/orgs/$organization/settings/webhooks/$webhookId': 'webhooks#receive-events',
  '/orgs/$organization/talk': 'sessions#talk-from-your-own-page',
  '/settings': 'accounts#passwords-and-sessions',
  '/settings/tokens': 'accounts#the-command-line',
} as const satisfies Partial<Record<keyof RegisteredRouter['routesByPath'], string>>;

/** Returns the address of the help for the route of a page, such as `/orgs/$organization/agents/`. */
export function findHelpAddress(route: string): string {
  const match = Object.entries(helpSections)
    .filter(([path]) => `${route}/`.startsWith(path === '/' ? path : `${path}/`))
    .sort(([a], [b]) => b.length - a.length)[0];
  return match === undefined ? '/help' : `/help/${match[1]}`;
}
