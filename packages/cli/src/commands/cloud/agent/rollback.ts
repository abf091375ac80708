import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions, flagOption, textOption } from '../../../command-line/options.ts';
import { findAgentWithDeployments } from '../../../deploy/agent-with-deployments.ts';
import { requireConfirmation } from '../../../io/confirm.ts';

export const command = defineCommand({
  summary: 'Roll back an agent to an earlier deployment',
  details:
    'Deploys the code, settings and secret revisions of an earlier deployment again. Without --to, this is the ' +
    'deployment that served before, or the serving one if a later deployment failed.\n' +
    'If that version is already active, the command changes nothing.\n' +
    'New sessions use it as soon as its first instance is ready; live sessions are not interrupted.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    to: textOption({ description: 'Deployment to roll back to', placeholder: 'DEPLOYMENT' }),
    ...confirmationOptions,
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
    const [current, target] = await Promise.all([
      findAgentWithDeployments(client, name, io.signal),
      to === undefined
        ? client.getRollbackTarget({ params: { agentName: name } })
        : client.getDeployment({ params: { agentName: name, deploymentId: to } }),
    ]);
    const serving = current?.serving ?? null;
    const [{ createRollbackPreview }, { waitForRollout }, { createOutcomeReport }] = await Promise.all([
      import('../../../deploy/preview.ts'),
      import('../../../deploy/rollout.ts'),
      import('../../../deploy/outcome.ts'),
    ]);
    const { blocks, changes } = createRollbackPreview(name, serving, target);
    await messages.show(...blocks);
    const outcome = { agentName: name, changes, build: null, packed: null, transports: null };
    if (serving !== null && changes.length === 0 && current?.desired === serving) {
      const unchanged = { change: 'none', deployment: serving, seconds: null, warning: null } as const;
      return createOutcomeReport(context, { ...outcome, ...unchanged });
    }
    if (!yes && !force) await requireConfirmation(io, `Roll ${name} back to ${target.id}?`, '--yes');
    const startedAtMs = io.monotonicMs();
    const answer = await client.rollback({ params: { agentName: name }, body: { deploymentId: target.id } });
    const deploymentId = answer.desiredDeploymentId;
    const deployment = noWait
      ? await client.getDeployment({ params: { agentName: name, deploymentId } })
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
