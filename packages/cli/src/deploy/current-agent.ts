import { type AgentDetails, ApiError, type Client, type DeploymentDetails } from '@bothost/contract';

/** The state of an agent before a deploy. */
export type CurrentAgent = {
  readonly agent: AgentDetails;
  /** The latest deployment, whether it succeeded or not. */
  readonly desired: DeploymentDetails;
  /** The deployment that new sessions run on. */
  readonly serving: DeploymentDetails | null;
};

/** The agent with its deployments; null if it does not exist. */
export async function findCurrentAgent(client: Client, agentName: string): Promise<CurrentAgent | null> {
  const agent = await client.getAgent({ params: { agentName } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === 'not-found') return null;
    throw error;
  });
  if (agent === null) return null;
  const { desiredDeploymentId, activeDeploymentId } = agent;
  const get = (deploymentId: string) => client.getDeployment({ params: { agentName, deploymentId } });
  const [desired, other] = await Promise.all([
    get(desiredDeploymentId),
    activeDeploymentId === null || activeDeploymentId === desiredDeploymentId ? null : get(activeDeploymentId),
  ]);
  return { agent, desired, serving: activeDeploymentId === desiredDeploymentId ? desired : other };
}
