import { queryOptions } from '@tanstack/react-query';
import { organizationQuery } from '../organization/queries.ts';

const refetchInterval = 5_000;
const recentSessions = 8;

export function overviewQuery(organization: string) {
  return queryOptions({
    ...organizationQuery(organization, ['overview'], (api, signal) => api.getOverview({}, signal)),
    refetchInterval,
  });
}

/** Reads the newest sessions of all agents. */
export function recentSessionsQuery(organization: string) {
  return queryOptions({
    ...organizationQuery(organization, ['sessions', 'recent'], (api, signal) =>
      api.listOrganizationSessions({ query: { limit: recentSessions } }, signal),
    ),
    refetchInterval,
  });
}
