import type { AgentDetails } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';

/**
 * Adds to an agent whether the instances of its deployment are forked or spawned, and why. Returns the agent unchanged if this
 * server has not started an instance of the deployment.
 */
export function addStartMethodToAgent(
  { runtime }: { readonly runtime: Pick<Runtime, 'startMethods'> },
  agent: AgentDetails,
): AgentDetails {
  const method = runtime.startMethods().get(agent.activeDeploymentId ?? agent.desiredDeploymentId);
  if (method === undefined) return agent;
  return { ...agent, startMethod: { level: method.level, reason: method.reason } };
}
