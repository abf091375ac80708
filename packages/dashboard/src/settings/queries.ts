import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { apiClient } from '../api.ts';
import { computePeriodStartSeconds } from '../components/period.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import type { AuditFilter } from './audit-filter.ts';

export const personalTokensQuery = queryOptions({
  queryKey: ['personal tokens'],
  queryFn: ({ signal }) => apiClient.listPersonalTokens({}, signal),
});

export function apiKeysQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'keys'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listKeys({}, signal),
  });
}

export function membersQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'members'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listMembers({}, signal),
  });
}

export function invitationsQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'invitations'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listInvitations({}, signal),
  });
}

export function regionsQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'regions'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listRegions({}, signal),
  });
}

export function auditQuery(organization: string, filter: AuditFilter) {
  const { action, object, result, since } = filter;
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const startTime = computePeriodStartSeconds(since, Date.now());
      const period = startTime === undefined ? {} : { since: new Date(startTime * 1_000).toISOString() };
      const query = { action, object, result, ...period, cursor: pageParam };
      return getOrganizationApi(organization).listAuditEntries({ query }, signal);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}
