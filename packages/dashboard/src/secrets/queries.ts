import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { useRefresh } from '../components/use-refresh.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

const refreshMs = 10_000;
/** Polling interval for a secret set while its new revision is delivered to its region. */
const deliveryRefreshMs = 1_000;

/** The common prefix of all query keys for secret sets and image pull secrets. */
function secretsKey(organization: string): readonly unknown[] {
  return [...createOrganizationQueryKey(organization), 'secrets'];
}

export function secretListQuery(organization: string) {
  return queryOptions({
    queryKey: [...secretsKey(organization), 'list'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listSecrets({ query: {} }, signal),
    refetchInterval: ({ state }) =>
      state.data?.sets.some(({ status }) => status === 'pending') === true ? deliveryRefreshMs : refreshMs,
  });
}

export function secretSetQuery(organization: string, setName: string) {
  return queryOptions({
    queryKey: [...secretsKey(organization), 'set', setName],
    queryFn: ({ signal }) => getOrganizationApi(organization).getSecretSet({ params: { setName } }, signal),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? deliveryRefreshMs : refreshMs),
  });
}

/** Returns the names of a region's secret sets. Does not poll, because the audit log records each read of the list. */
export function useSecretSetNames(organization: string, region: string | undefined): readonly string[] | undefined {
  const { data } = useQuery({ ...secretListQuery(organization), refetchInterval: false });
  return data?.sets.filter((set) => set.type === 'secret' && set.region === region).map(({ name }) => name);
}

export function secretHistoryQuery(organization: string, setName: string) {
  return infiniteQueryOptions({
    queryKey: [...secretsKey(organization), 'history', setName],
    queryFn: ({ pageParam, signal }) =>
      getOrganizationApi(organization).getSecretHistory(
        { params: { setName }, query: pageParam === null ? {} : { before: pageParam } },
        signal,
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ nextBefore }) => nextBefore,
  });
}

/**
 * Returns a function that reloads all data of an organization after a change of secrets. This includes the agents, because the
 * pages mark agents that use an old revision of a secret set.
 */
export function useRefreshSecrets(organization: string): ReturnType<typeof useRefresh> {
  return useRefresh(createOrganizationQueryKey(organization));
}
