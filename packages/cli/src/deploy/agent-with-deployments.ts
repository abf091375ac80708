import { type AgentDetails, type ApiClient, type DeploymentDetails, fetchAgentDetails } from '@bothost/contract';

export type AgentWithDeployments = {
  readonly agent: AgentDetails;
  /** The latest deployment, which may still be in progress or have failed. */
  readonly desired: DeploymentDetails;
  readonly serving: DeploymentDetails | null;
};

export async function findAgentWithDeployments(
  client: ApiClient,
  agentName: string,
  signal: AbortSignal,
): Promise<AgentWithDeployments | null> {
  const agent = await fetchAgentDetails(client, agentName, signal);
  if (agent === null) return null;
  const { desiredDeploymentId, activeDeploymentId } = agent;
  const get = (deploymentId: string) => client.getDeployment({ params: { agentName, deploymentId } });
  const [desired, other] = await Promise.all([
    get(desiredDeploymentId),
    activeDeploymentId === null || activeDeploymentId === desiredDeploymentId ? null : get(activeDeploymentId),
  ]);
  return { agent, desired, serving: activeDeploymentId === desiredDeploymentId ? desired : other };
}
