import type { ApiClient } from '@bothost/contract';
import { queryOptions } from '@tanstack/react-query';
import { createOrganizationQueryKey, getOrganizationApi } from './organization.ts';

/** Options of a query that calls the API of an organization. */
export function organizationQuery<Data>(
  organization: string,
  key: readonly unknown[],
  read: (api: ApiClient, signal: AbortSignal) => Promise<Data>,
) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), ...key],
    queryFn: ({ signal }) => read(getOrganizationApi(organization), signal),
  });
}

export function regionsQuery(organization: string) {
  return organizationQuery(organization, ['regions'], (api, signal) => api.listRegions({}, signal));
}

export function organizationPropertiesQuery(organization: string) {
  return organizationQuery(organization, ['properties'], (api, signal) => api.getProperties({}, signal));
}
