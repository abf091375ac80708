import type { Client, DeploymentDetails } from '@bothost/contract';
import { deploymentStateLabels, statusLabel } from '@bothost/contract/statuses';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { secondsBetween } from '../output/format.ts';
import { printableLog } from '../output/log-text.ts';
import { withRetries } from '../service/retry.ts';
import { withInterruptNotice } from './interrupt-notice.ts';

/** After so many seconds nobody waits any more; the service itself goes on. */
const timeoutSeconds = 600;
/** How often somebody without a terminal is told that it still goes on, in seconds. */
const noticeIntervalSeconds = 15;

/**
 * Waits until a deployment takes traffic, saying why it does not yet and for how long. One that failed, or was overtaken
 * by another, is a `Failure`, which says what goes on serving.
 */
export function waitForRollout(
  context: Pick<Context, 'io' | 'messages'>,
  client: Client,
  agentName: string,
  deploymentId: string,
): Promise<DeploymentDetails> {
  const notice = `The rollout continues in the service; follow it with: botcli cloud agent status ${agentName}`;
  return withInterruptNotice(context, notice, () => pollRollout(context, client, agentName, deploymentId));
}

async function pollRollout(
  context: Pick<Context, 'io' | 'messages'>,
  client: Client,
  agentName: string,
  deploymentId: string,
): Promise<DeploymentDetails> {
  const { io, messages } = context;
  const startedAt = io.now();
  let lastNotice = { phase: '', seconds: 0 };
  for (;;) {
    const found = await withRetries(context, () => client.getDeployment({ params: { agentName, deploymentId } }));
    if (found.state === 'ready') {
      messages.status(null);
      return found;
    }
    const agent = await withRetries(context, () => client.getAgent({ params: { agentName } }));
    if (found.state === 'failed') throw rolloutFailure(found, agent.activeDeploymentId);
    if (agent.desiredDeploymentId !== deploymentId) {
      const message = `Another deploy of ${agentName} started in the meantime (${agent.desiredDeploymentId}).`;
      throw new Failure('overtaken', message, `See it with: botcli cloud agent status ${agentName}`);
    }
    const seconds = Math.floor(secondsBetween(startedAt.toISOString(), io.now()));
    const phase = statusLabel(deploymentStateLabels, found.state);
    messages.status(`${seconds} s: ${phase}${servingNote(agent.activeDeploymentId, deploymentId)}`);
    if (!messages.isLive && (lastNotice.phase !== phase || seconds - lastNotice.seconds >= noticeIntervalSeconds)) {
      messages.notify(`${phase}${seconds === 0 ? '' : `, ${seconds} s`}`);
      lastNotice = { phase, seconds };
    }
    if (seconds >= timeoutSeconds) {
      const hint = `It may still succeed: botcli cloud agent status ${agentName}`;
      throw new Failure('rollout-timeout', `After ${timeoutSeconds} s the deployment is still not ready.`, hint);
    }
    await io.sleep(messages.isLive ? 250 : 500);
  }
}

/** Short, since the status is one line: with the longest phase it fits 60 columns. */
function servingNote(serving: string | null, deploymentId: string): string {
  if (serving === null) return '; nothing is serving yet';
  return serving === deploymentId ? '' : '; the previous one serves';
}

/** What became of a deployment that failed, with the last words of its bot. */
export function rolloutFailure(deployment: DeploymentDetails, serving: string | null): Failure {
  const { failure } = deployment;
  const tail = failure?.tail.trimEnd() ?? '';
  const name = deployment.manifest.metadata.name;
  const goesOn =
    serving === null || serving === deployment.id
      ? 'Nothing is serving the agent.'
      : `The deployment ${serving} keeps serving; no session has used the new one.`;
  return new Failure(
    'deployment-failed',
    `The deployment ${deployment.id} of ${name} failed: ${failure?.message ?? 'no reason is known'} ${goesOn}`,
    wroteNoOutput(failure)
      ? 'It wrote no output.'
      : `Its full output: botcli cloud agent logs ${name} --deployment ${deployment.id}`,
    tail === '' ? [] : tail.split('\n').map((line) => ({ path: '', message: printableLog(line, false) })),
    { deployment, servingDeploymentId: serving },
  );
}

/** Whether a bot ran and wrote nothing, so that its logs have no line. */
function wroteNoOutput(failure: DeploymentDetails['failure']): boolean {
  if (failure === null || failure.tail !== '') return false;
  return ['PCC_BOT_EXITED', 'PCC_OUT_OF_MEMORY', 'PCC_BOT_START_TIMEOUT'].includes(failure.code);
}
