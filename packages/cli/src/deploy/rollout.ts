import { type ApiClient, type DeploymentDetails, formatPullProgress } from '@bothost/contract';
import { deploymentStateLabels, getStatusLabel } from '@bothost/contract/statuses';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure } from '../failure.ts';
import { escapeLogLine } from '../output/log-text.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { formatPullLayers } from './pull-layers.ts';

/** Maximum time that a deploy waits for its rollout. After this time the command ends, but the service continues the rollout. */
const timeoutSeconds = 600;
/** Maximum wait for the rollout of an image, whose pull may take 15 minutes. */
const imageTimeoutSeconds = 1_500;
const pollIntervalMs = 250;
/** Interval of progress messages if there is no terminal. */
const noticeIntervalSeconds = 15;

/** Waits for a deployment and shows its progress. Throws a `Failure` if it fails or is superseded. */
export function waitForRollout(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  agentName: string,
  deploymentId: string,
): Promise<DeploymentDetails> {
  const notice = `The rollout continues in the service. To check its status, run: botcli cloud agent status ${agentName}`;
  return withInterruptNotice(context, notice, () => pollRollout(context, client, agentName, deploymentId));
}

async function pollRollout(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  agentName: string,
  deploymentId: string,
): Promise<DeploymentDetails> {
  const { io, messages } = context;
  const startedAtMs = io.monotonicMs();
  let lastNotice = { phase: '', waits: '', seconds: 0 };
  for (;;) {
    const deployment = await withRetries(context, () => client.getDeployment({ params: { agentName, deploymentId } }));
    if (deployment.state === 'ready') {
      messages.status(null);
      return deployment;
    }
    const agent = await withRetries(context, () => client.getAgent({ params: { agentName } }));
    if (deployment.state === 'failed') throw createRolloutFailure(deployment, agent.activeDeploymentId);
    if (agent.desiredDeploymentId !== deploymentId) {
      const message = `The deployment was superseded by a newer deployment of ${agentName} (${agent.desiredDeploymentId}).`;
      throw new Failure('overtaken', message, `To check the agent, run: botcli cloud agent status ${agentName}`);
    }
    const seconds = Math.floor((io.monotonicMs() - startedAtMs) / 1_000);
    const layers = deployment.image?.pulling ?? [];
    const phase = getStatusLabel(deploymentStateLabels, deployment.state);
    const waits = agent.conditions.find(({ reason }) => reason === 'InstancesWait')?.message ?? '';
    const note = servingNote(agent.activeDeploymentId, deploymentId);
    messages.status(
      layers.length === 0
        ? [`${seconds} s: ${phase}${note}`, ...(waits === '' ? [] : [waits])].join('\n')
        : [`${seconds} s: pulling, ${formatPullProgress(layers)}`, ...formatPullLayers(layers)].join('\n'),
    );
    const isNew = lastNotice.phase !== phase || lastNotice.waits !== waits;
    if (!messages.isLive && (isNew || seconds - lastNotice.seconds >= noticeIntervalSeconds)) {
      const pull = layers.length === 0 ? '' : `, pulling ${formatPullProgress(layers)}`;
      const wait = waits === '' ? '' : `: ${waits}`;
      messages.notify(`${phase}${pull}${seconds === 0 ? '' : `, ${seconds} s`}${wait}`);
      lastNotice = { phase, waits, seconds };
    }
    const limit = deployment.image === null ? timeoutSeconds : imageTimeoutSeconds;
    if (seconds >= limit) {
      const hint = `The rollout may still succeed. To check its status, run: botcli cloud agent status ${agentName}`;
      throw new Failure('rollout-timeout', `The deployment is not ready after ${limit} s.`, hint);
    }
    await io.sleep(pollIntervalMs);
  }
}

/** Whether another deployment is active during the rollout. Short, so that the status line fits into 60 columns. */
function servingNote(serving: string | null, deploymentId: string): string {
  if (serving === null) return '; none is active yet';
  return serving === deploymentId ? '' : '; previous one is active';
}

export function createRolloutFailure(deployment: DeploymentDetails, serving: string | null): Failure {
  const { failure } = deployment;
  const tail = failure?.tail.trimEnd() ?? '';
  const name = deployment.manifest.metadata.name;
  const effect =
    serving === null || serving === deployment.id
      ? 'No deployment of the agent is active.'
      : `The deployment ${serving} keeps serving; no session has used the new one.`;
  return new Failure(
    'deployment-failed',
    `The deployment ${deployment.id} of ${name} failed: ${failure?.message ?? 'The reason is unknown.'} ${effect}`,
    wroteNoOutput(failure)
      ? 'The bot wrote no output.'
      : isImageProblem(failure)
        ? `No instance was started. Error code: ${failure?.code}`
        : `To show its logs, run: botcli cloud agent logs ${name} --deployment ${deployment.id}`,
    {
      issues: tail === '' ? [] : tail.split('\n').map((line) => ({ path: '', message: escapeLogLine(line, false) })),
      details: { deployment, servingDeploymentId: serving },
    },
  );
}

/** Returns true if the image could not be used, so that no bot ran. */
function isImageProblem(failure: DeploymentDetails['failure']): boolean {
  return failure !== null && /^PCC_(?:INVALID_)?IMAGE_/.test(failure.code);
}

/** Returns true if a bot ran and failed without writing output. Returns false if the deployment failed before the bot ran. */
function wroteNoOutput(failure: DeploymentDetails['failure']): boolean {
  if (failure === null || failure.tail !== '') return false;
  return ['PCC_BOT_EXITED', 'PCC_OUT_OF_MEMORY', 'PCC_BOT_START_TIMEOUT'].includes(failure.code);
}
