import type { ApiClient } from './client.ts';
import { ApiError } from './errors.ts';
import { parseImageReference } from './image-reference.ts';
import type { AgentDetails, AgentSettings, DeployedAgent } from './operations/agents.ts';
import { isTransientError } from './with-retries.ts';

/** `latestDeploymentId` is null if the agent does not exist yet. */
export type DeploymentTarget = {
  readonly agentName: string;
  readonly region: string;
  readonly latestDeploymentId: string | null;
};

export type AcceptedDeployment = {
  readonly agentName: string;
  readonly deploymentId: string;
  readonly change: DeployedAgent['change'];
  readonly warning: string | null;
};

/**
 * Creates an agent or updates its deployment. After a transient error, the service may still have executed the request. The
 * function then reads the agent, and repeats the request only if the agent has no new deployment of the same build or image. `retry`
 * repeats reads after transient errors.
 *
 * @example
 * const target = { agentName: 'parrot', region: 'us-west', latestDeploymentId: null };
 * const retry = <T>(read: () => Promise<T>) => withRetries(read, signal);
 * const { deploymentId } = await submitDeployment(client, target, { buildId }, { signal, retry });
 */
export async function submitDeployment(
  client: ApiClient,
  { agentName, region, latestDeploymentId }: DeploymentTarget,
  settings: AgentSettings,
  { signal, retry }: { readonly signal: AbortSignal; readonly retry: <T>(read: () => Promise<T>) => Promise<T> },
): Promise<AcceptedDeployment> {
  const write = async () => {
    const agent =
      latestDeploymentId === null
        ? await client.createAgent({ body: { serviceName: agentName, ...settings, region } }, signal)
        : await client.updateAgent({ params: { agentName }, body: { ...settings, region } }, signal);
    const { desiredDeploymentId: deploymentId, change, warning = null } = agent;
    return { agentName, deploymentId, change, warning };
  };
  try {
    return await write();
  } catch (error) {
    if (signal.aborted || !isTransientError(error)) throw error;
    const agent = await retry(() => fetchAgentDetails(client, agentName, signal));
    const deploymentId = agent?.desiredDeploymentId ?? null;
    if (deploymentId === latestDeploymentId || deploymentId === null) return write();
    const { buildId, image } = await retry(() => client.getDeployment({ params: { agentName, deploymentId } }, signal));
    // The new deployment of the agent uses another build or image than this request, so another client created the deployment.
    // Send the request again.
    if (settings.buildId !== undefined && settings.buildId !== buildId) return write();
    if (typeof settings.image === 'string' && !isSameImage(settings.image, image?.reference)) return write();
    return { agentName, deploymentId, change: 'deployment', warning: null };
  }
}

function isSameImage(requested: string, deployed: string | undefined): boolean {
  const image = parseImageReference(requested);
  return 'text' in image && image.text === deployed;
}

/** Returns null if the agent does not exist. */
export async function fetchAgentDetails(
  client: ApiClient,
  agentName: string,
  signal: AbortSignal,
): Promise<AgentDetails | null> {
  return client.getAgent({ params: { agentName } }, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === 'not-found') return null;
    throw error;
  });
}
