import { queryOptions } from '@tanstack/react-query';
import { organizationQuery } from '../organization/queries.ts';

export function overviewQuery(organization: string) {
  return queryOptions({
    ...organizationQuery(organization, ['overview'], (api, signal) => api.getOverview({}, signal)),
    refetchInterval: 5_000,
  });
}
