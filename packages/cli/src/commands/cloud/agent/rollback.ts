import type { ApiClient, DeploymentDetails } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { flagOption, textOption } from '../../../command-line/options.ts';
import { Failure } from '../../../failure.ts';
import { requireConfirmation } from '../../../io/confirm.ts';

export const command = defineCommand({
  summary: 'Roll back an agent to an earlier deployment',
  details:
    'Deploys the code, settings and secret revisions of an earlier deployment again. Without --to, this is the ' +
    'deployment that served before, or the serving one if a later deployment failed.\n' +
    'If that version is already active, the command changes nothing.\n' +
    'New sessions use it as soon as its first instance is ready; live sessions are not interrupted.\n' +
    'On a terminal, the command asks for confirmation. Without one, it needs --yes.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    to: textOption({ description: 'Deployment to roll back to', placeholder: 'DEPLOYMENT' }),
    yes: flagOption('Skip the confirmation', 'y'),
    force: flagOption('Skip the confirmation', 'f'),
    wait: flagOption('Wait until the deployment is active (the default)'),
    'no-wait': flagOption('Do not wait until the deployment is active'),
  },
  examples: [
    'cloud agent rollback my-bot',
    'cloud agent rollback my-bot --to 0192f0c1-2345-7000-8000-00000000abcd --yes',
  ],
  run: async (context, { name, to, yes, force, 'no-wait': noWait }) => {
    const { messages, io } = context;
    const client = await context.service();
    const { deployments } = await client.listDeployments({ params: { agentName: name }, query: { limit: 100 } });
    const serving = deployments.find((one) => one.serving) ?? null;
    const target =
      to === undefined ? previousDeployment(deployments, serving) : await getDeployment(client, name, to, deployments);
    const [{ createRollbackPreview }, { waitForRollout }, { createOutcomeReport }] = await Promise.all([
      import('../../../deploy/preview.ts'),
      import('../../../deploy/rollout.ts'),
      import('../../../deploy/outcome.ts'),
    ]);
    const { blocks, changes } = createRollbackPreview(name, serving, target);
    await messages.show(...blocks);
    const outcome = { agentName: name, changes, build: null, packed: null, transports: null };
    if (serving !== null && changes.length === 0 && deployments[0] === serving) {
      const unchanged = { change: 'none', deployment: serving, seconds: null, warning: null } as const;
      return createOutcomeReport(context, { ...outcome, ...unchanged });
    }
    if (!yes && !force) await requireConfirmation(io, `Roll ${name} back to ${target.id}?`, '--yes');
    const startedAtMs = io.monotonicMs();
    const answer = await client.rollback({ params: { agentName: name }, body: { deploymentId: target.id } });
    const deploymentId = answer.desiredDeploymentId;
    const deployment = noWait
      ? await getDeployment(client, name, deploymentId, [])
      : await waitForRollout(context, client, name, deploymentId);
    return createOutcomeReport(context, {
      ...outcome,
      change: answer.change,
      deployment,
      seconds: noWait ? null : (io.monotonicMs() - startedAtMs) / 1_000,
      warning: answer.warning ?? null,
    });
  },
});

/**
 * Returns the default target of a rollback, by the same rule as the service. If a deployment later than the serving deployment
 * is pending or has failed, the target is the serving deployment. Otherwise, the target is the deployment that served before.
 */
function previousDeployment(all: readonly DeploymentDetails[], serving: DeploymentDetails | null): DeploymentDetails {
  if (serving !== null && all[0]?.id !== serving.id) return serving;
  const earlier = all.filter(({ id, activatedAt }) => activatedAt !== null && id !== serving?.id);
  const [previous] = earlier.toSorted((a, b) => ((a.activatedAt ?? '') < (b.activatedAt ?? '') ? 1 : -1));
  if (previous !== undefined) return previous;
  throw new Failure(
    'no-earlier-deployment',
    'No other deployment of this agent was ever active, so there is nothing to roll back to.',
  );
}

async function getDeployment(
  client: ApiClient,
  agentName: string,
  deploymentId: string,
  listed: readonly DeploymentDetails[],
): Promise<DeploymentDetails> {
  return listed.find(({ id }) => id === deploymentId) ?? client.getDeployment({ params: { agentName, deploymentId } });
}
