import { type AgentSettings, type Client, type DeployedAgent, isTransientError } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../service/retry.ts';
import { type CurrentAgent, findCurrentAgent } from './current-agent.ts';
import { withInterruptNotice } from './interrupt-notice.ts';

export type AcceptedDeployment = {
  readonly deploymentId: string;
  readonly change: DeployedAgent['change'];
  readonly warning: string | null;
};

/**
 * Creates or updates the agent. If no response arrives, reads the agent and sends the request again only if the first request
 * had no effect.
 */
export async function submitDeployment(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: Client,
  agent: { readonly name: string; readonly region: string; readonly before: CurrentAgent | null },
  settings: AgentSettings,
): Promise<AcceptedDeployment> {
  const write = async () => {
    const answer =
      agent.before === null
        ? await client.createAgent({ body: { serviceName: agent.name, ...settings, region: agent.region } })
        : await client.updateAgent({ params: { agentName: agent.name }, body: settings });
    return { deploymentId: answer.desiredDeploymentId, change: answer.change, warning: answer.warning ?? null };
  };
  const notice = `The service may still complete the deploy. To check, run: botcli cloud agent status ${agent.name}`;
  return withInterruptNotice(context, notice, async () => {
    try {
      return await write();
    } catch (error) {
      if (context.io.signal.aborted || !isTransientError(error)) throw error;
      const currentAgent = await withRetries(context, () => findCurrentAgent(client, agent.name));
      const deploymentId = currentAgent?.desired.id;
      if (deploymentId === undefined || deploymentId === agent.before?.desired.id) return write();
      return { deploymentId, change: 'deployment', warning: null };
    }
  });
}
