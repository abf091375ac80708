import type { DeploymentDetails } from '@bothost/contract';
import { queryOptions } from '@tanstack/react-query';
import { createAgentsQueryKey } from '../agents/queries.ts';
import { isNotFoundError } from '../api.ts';
import { getOrganizationApi } from '../organization/organization.ts';
import type { FileDifference } from './compare-files.ts';

export type DeploymentAddress = {
  readonly organization: string;
  readonly agentName: string;
  readonly deploymentId: string;
};

const createKey = ({ organization, agentName, deploymentId }: DeploymentAddress) =>
  [...createAgentsQueryKey(organization), 'agent', agentName, 'deployments', deploymentId] as const;

/** Finds the deployment that served before a deployment was created. The data is null if there is none. */
export function formerDeploymentQuery(deployment: DeploymentAddress) {
  const { organization, agentName, deploymentId } = deployment;
  return queryOptions({
    queryKey: [...createKey(deployment), 'former'],
    queryFn: async ({ signal }): Promise<DeploymentDetails | null> => {
      // The cursor of the list is the id of the last deployment of a page, so this is the page after the deployment.
      for (let cursor: string | null = deploymentId; cursor !== null; ) {
        const request = { params: { agentName }, query: { limit: 100, cursor } };
        const page = await getOrganizationApi(organization).listDeployments(request, signal);
        const former = page.deployments.find(({ activatedAt }) => activatedAt !== null);
        if (former !== undefined) return former;
        cursor = page.nextCursor;
      }
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Lists the files of a deployment, and those of the former one. The latter is null if the service cannot list them. */
export function filesQuery(from: DeploymentAddress | null, to: DeploymentAddress) {
  const list = async ({ organization, agentName, deploymentId }: DeploymentAddress, signal: AbortSignal) => {
    const params = { agentName, deploymentId };
    return (await getOrganizationApi(organization).listDeploymentFiles({ params }, signal)).files;
  };
  const listFormer = async (deployment: DeploymentAddress, signal: AbortSignal) => {
    try {
      return await list(deployment, signal);
    } catch (error) {
      if (isNotFoundError(error)) return null;
      throw error;
    }
  };
  return queryOptions({
    queryKey: [...createKey(to), 'files', from?.deploymentId],
    queryFn: async ({ signal }) => {
      const [current, former] = await Promise.all([list(to, signal), from === null ? null : listFormer(from, signal)]);
      return { current, former };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Reads the contents of a file that differs. A content is null on the side that does not have the file. */
export function fileContentsQuery(
  from: DeploymentAddress | null,
  to: DeploymentAddress,
  { path, fromBytes, toBytes }: FileDifference,
) {
  const read = async (deployment: DeploymentAddress | null, bytes: number | null, signal: AbortSignal) => {
    if (deployment === null || bytes === null) return null;
    const { organization, agentName, deploymentId } = deployment;
    const request = { params: { agentName, deploymentId }, query: { path } };
    return getOrganizationApi(organization).getDeploymentFile(request, signal);
  };
  return queryOptions({
    queryKey: [...createKey(to), 'file', path, from?.deploymentId],
    queryFn: async ({ signal }) => {
      const [old, current] = await Promise.all([read(from, fromBytes, signal), read(to, toBytes, signal)]);
      return { old, current };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
