import type { AgentDetails } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import { formatReason } from './present.ts';

/** Adds `startMethod` to an agent: how instances of its deployment are started, if this server has started one of them. */
export function addStartMethod(
  { runtime }: { readonly runtime: Pick<Runtime, 'startMethods'> },
  agent: AgentDetails,
): AgentDetails {
  const method = runtime.startMethods().get(agent.activeDeploymentId ?? agent.desiredDeploymentId);
  if (method === undefined) return agent;
  const reason = method.reason === null ? null : formatReason(method.reason);
  return { ...agent, startMethod: { level: method.level, reason } };
}
