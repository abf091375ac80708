import { queryOptions } from '@tanstack/react-query';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

export function overviewQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'overview'],
    queryFn: ({ signal }) => getOrganizationApi(organization).getOverview({}, signal),
    refetchInterval: 5_000,
  });
}
