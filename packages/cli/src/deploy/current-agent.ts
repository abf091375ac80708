import { type AgentDetails, ApiError, type Client, type DeploymentDetails } from '@bothost/contract';

/** What is there before a deploy. */
export type CurrentAgent = {
  readonly agent: AgentDetails;
  /** The one that was asked for last, whatever became of it. */
  readonly desired: DeploymentDetails;
  /** The one that new sessions run on. */
  readonly serving: DeploymentDetails | null;
};

/** The agent with its deployments, or null when there is none of that name. */
export async function findCurrentAgent(client: Client, agentName: string): Promise<CurrentAgent | null> {
  const agent = await client.getAgent({ params: { agentName } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === 'not-found') return null;
    throw error;
  });
  if (agent === null) return null;
  const { desiredDeploymentId, activeDeploymentId } = agent;
  const look = (deploymentId: string) => client.getDeployment({ params: { agentName, deploymentId } });
  const [desired, other] = await Promise.all([
    look(desiredDeploymentId),
    activeDeploymentId === null || activeDeploymentId === desiredDeploymentId ? null : look(activeDeploymentId),
  ]);
  return { agent, desired, serving: activeDeploymentId === desiredDeploymentId ? desired : other };
}
