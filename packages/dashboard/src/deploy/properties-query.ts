import { queryOptions } from '@tanstack/react-query';
import { organizationApi, organizationKey } from '../organization/organization.ts';

export function propertiesQuery(organization: string) {
  return queryOptions({
    queryKey: [...organizationKey(organization), 'properties'],
    queryFn: ({ signal }) => organizationApi(organization).getProperties({}, signal),
  });
}
