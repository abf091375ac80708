import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { apiClient } from '../api.ts';
import { computePeriodStartSeconds } from '../components/period.ts';
import { pollIntervalMs } from '../live-query.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import { organizationQuery } from '../organization/queries.ts';
import type { AuditFilter } from './audit-filter.ts';

export const personalTokensQuery = queryOptions({
  queryKey: ['personal tokens'],
  queryFn: ({ signal }) => apiClient.listPersonalTokens({}, signal),
});

export function apiKeysQuery(organization: string) {
  return organizationQuery(organization, ['keys'], (api, signal) => api.listKeys({}, signal));
}

export function roomConnectionsQuery(organization: string) {
  return organizationQuery(organization, ['rooms'], (api, signal) => api.listRoomConnections({}, signal));
}

export function phoneConnectionsQuery(organization: string) {
  return organizationQuery(organization, ['phone'], (api, signal) => api.listPhoneConnections({}, signal));
}

export function membersQuery(organization: string) {
  return organizationQuery(organization, ['members'], (api, signal) => api.listMembers({}, signal));
}

export function invitationsQuery(organization: string) {
  return organizationQuery(organization, ['invitations'], (api, signal) => api.listInvitations({}, signal));
}

export function webhooksQuery(organization: string) {
  return organizationQuery(organization, ['webhooks'], (api, signal) => api.listWebhooks({}, signal));
}

/** Polled, because deliveries change while the service sends them. */
export function webhookDeliveriesQuery(organization: string, webhookId: string) {
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'webhooks', webhookId],
    queryFn: ({ pageParam, signal }) =>
      getOrganizationApi(organization).listWebhookDeliveries(
        { params: { webhookId }, query: { cursor: pageParam } },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: pollIntervalMs,
  });
}

export function alertsQuery(organization: string) {
  return organizationQuery(organization, ['alerts'], (api, signal) => api.listAlerts({}, signal));
}

export function agentNamesQuery(organization: string) {
  return organizationQuery(organization, ['agent names'], async (api, signal) =>
    (await api.listAgents({}, signal)).agents.map(({ name }) => name),
  );
}

export function auditQuery(organization: string, filter: AuditFilter) {
  const { action, object, actor, result, since } = filter;
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const startTime = computePeriodStartSeconds(since, Date.now());
      const period = startTime === undefined ? {} : { since: new Date(startTime * 1_000).toISOString() };
      const query = { action, object, actor, result, ...period, cursor: pageParam };
      return getOrganizationApi(organization).listAuditEntries({ query }, signal);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}
