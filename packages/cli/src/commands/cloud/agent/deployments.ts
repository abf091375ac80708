import type { DeploymentDetails } from '@bothost/contract';
import { itemsPerPage } from '@bothost/contract/limits';
import { deploymentPhaseLabels, deploymentStateLabels, getStatusLabel } from '@bothost/contract/statuses';
import { defineCommand } from '../../../command-line/command.ts';
import { pageSizeOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the deployments of an agent, newest first',
  details:
    'Columns: deployment id, state, code (content hash, or image and digest), build id, profile, live sessions, created, activated. ' +
    'New sessions run on the deployment in the state serving.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    limit: pageSizeOption(itemsPerPage, 'Deployments'),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud agent deployments parrot', 'cloud agent deployments parrot --json'],
  run: async ({ service }, { name, limit = itemsPerPage.default, cursor }) => {
    const client = await service();
    const page = await client.listDeployments({ params: { agentName: name }, query: { limit, cursor } });
    const failed = page.deployments.find(({ failure }) => failure !== null);
    const notes = [
      ...(failed?.failure ? [`${failed.id} failed: ${failed.failure.message}`] : []),
      ...(page.nextCursor === null ? [] : [`Next page: --cursor ${page.nextCursor}`]),
    ];
    const table = createTable(page.deployments, 'No deployments found.', [
      ['Deployment id', ({ id }) => id],
      ['State', stateCell],
      ['Code', codeCell],
      ['Build id', ({ buildId }) => formatOptionalCell(buildId), { dropOrder: 1 }],
      ['Profile', ({ agentProfile }) => agentProfile, { dropOrder: 3 }],
      ['Sessions', (deployment) => String(deployment.activeSessionCount), { align: 'right', dropOrder: 5 }],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 4 }],
      ['Activated', ({ activatedAt }) => formatTime(activatedAt), { dropOrder: 2 }],
    ]);
    const note = notes.length === 0 ? [] : [{ kind: 'note', lines: notes } as const];
    return { json: page, blocks: [table, ...note] };
  },
});

const tones = { preparing: 'warn', validating: 'warn', ready: 'dim', failed: 'bad' } as const;

function stateCell({ state, serving }: DeploymentDetails): Cell {
  if (serving) return { text: 'serving', rich: deploymentPhaseLabels.Active, tone: 'good' };
  return { text: state, rich: getStatusLabel(deploymentStateLabels, state), tone: tones[state] };
}

function codeCell({ contentHash, image }: DeploymentDetails): Cell {
  if (image === null) return { text: contentHash, rich: contentHash.slice(0, 12) };
  const { reference, digest } = image;
  if (digest === null) return reference;
  return { text: `${reference}@${digest}`, rich: `${reference} (${digest.slice(0, digest.indexOf(':') + 13)})` };
}
