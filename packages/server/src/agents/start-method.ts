import type { AgentDetails } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';

/** Adds whether the deployment's instances are forked or spawned, and why, if this server has started one of them. */
export function addStartMethodToAgent(
  { runtime }: { readonly runtime: Pick<Runtime, 'startMethods'> },
  agent: AgentDetails,
): AgentDetails {
  const method = runtime.startMethods().get(agent.activeDeploymentId ?? agent.desiredDeploymentId);
  if (method === undefined) return agent;
  return { ...agent, startMethod: { level: method.level, reason: method.reason } };
}
