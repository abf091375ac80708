import { queryOptions } from '@tanstack/react-query';
import { createOrganizationQueryKey, getOrganizationApi } from './organization.ts';

export function organizationPropertiesQuery(organization: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'properties'],
    queryFn: ({ signal }) => getOrganizationApi(organization).getProperties({}, signal),
  });
}
