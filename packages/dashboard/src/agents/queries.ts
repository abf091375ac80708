import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

const refreshMs = 5_000;
/** Polling interval for a deployment while its rollout is in progress. */
const rolloutRefreshMs = 1_000;

/** The common prefix of all query keys for an organization's agents. Invalidating it reloads all data about the agents. */
export function createAgentsQueryKey(organization: string): readonly unknown[] {
  return [...createOrganizationQueryKey(organization), 'agents'];
}

export function agentListQuery(organization: string) {
  return queryOptions({
    queryKey: [...createAgentsQueryKey(organization), 'list'],
    queryFn: ({ signal }) =>
      getOrganizationApi(organization).listAgents({ query: { includeActiveDeployment: 'true' } }, signal),
    refetchInterval: refreshMs,
  });
}

/** Lists agents without their deployments, for pages on which a person chooses an agent. */
export function agentNamesQuery(organization: string) {
  return queryOptions({
    queryKey: [...createAgentsQueryKey(organization), 'names'],
    queryFn: ({ signal }) => getOrganizationApi(organization).listAgents({}, signal),
  });
}

export function agentQuery(organization: string, agentName: string) {
  return queryOptions({
    queryKey: [...createAgentsQueryKey(organization), 'agent', agentName],
    queryFn: ({ signal }) => getOrganizationApi(organization).getAgent({ params: { agentName } }, signal),
    refetchInterval: ({ state }) =>
      state.data?.desiredDeploymentId === state.data?.reconciledDeploymentId ? refreshMs : rolloutRefreshMs,
  });
}

export function deploymentsQuery(organization: string, agentName: string) {
  return infiniteQueryOptions({
    queryKey: [...createAgentsQueryKey(organization), 'agent', agentName, 'deployments'],
    queryFn: ({ pageParam, signal }) =>
      getOrganizationApi(organization).listDeployments(
        { params: { agentName }, query: { limit: 50, cursor: pageParam } },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshMs,
  });
}

export function deploymentQuery(organization: string, agentName: string, deploymentId: string) {
  return queryOptions({
    queryKey: [...createAgentsQueryKey(organization), 'agent', agentName, 'deployments', deploymentId],
    queryFn: ({ signal }) =>
      getOrganizationApi(organization).getDeployment({ params: { agentName, deploymentId } }, signal),
    refetchInterval: ({ state }) =>
      state.data?.state === 'ready' || state.data?.state === 'failed' ? false : rolloutRefreshMs,
  });
}
