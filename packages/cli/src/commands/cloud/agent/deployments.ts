import type { DeploymentDetails } from '@bothost/contract';
import { deploymentPhaseLabels, deploymentStateLabels, getStatusLabel } from '@bothost/contract/statuses';
import { defineCommand } from '../../../command-line/command.ts';
import { integerOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';

export const command = defineCommand({
  summary: 'List the deployments of an agent, newest first',
  details:
    'Columns: deployment id, state, code (content hash, or image and digest), build id, profile, live sessions, created, activated. ' +
    'New sessions run on the deployment in the state serving.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    limit: integerOption({ description: 'Deployments per page, 10 by default', short: 'n' }, 1, 1_000),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud agent deployments parrot', 'cloud agent deployments parrot --json'],
  run: async ({ service }, { name, limit = 10, cursor }) => {
    const client = await service();
    const query = { limit, ...(cursor === undefined ? {} : { cursor }) };
    const page = await client.listDeployments({ params: { agentName: name }, query });
    const failed = page.deployments.find(({ failure }) => failure !== null);
    const notes = [
      ...(failed?.failure ? [`${failed.id} failed: ${failed.failure.message}`] : []),
      ...(page.nextCursor === null ? [] : [`Next page: --cursor ${page.nextCursor}`]),
    ];
    return {
      json: page,
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Deployment id' },
            { title: 'State' },
            { title: 'Code' },
            { title: 'Build id', dropOrder: 1 },
            { title: 'Profile', dropOrder: 3 },
            { title: 'Sessions', align: 'right', dropOrder: 5 },
            { title: 'Created', dropOrder: 4 },
            { title: 'Activated', dropOrder: 2 },
          ],
          rows: page.deployments.map(row),
          empty: 'No deployments found.',
        },
        ...(notes.length === 0 ? [] : [{ kind: 'note', lines: notes } as const]),
      ],
    };
  },
});

function row(deployment: DeploymentDetails): readonly Cell[] {
  return [
    deployment.id,
    state(deployment),
    codeCell(deployment),
    formatOptionalCell(deployment.buildId),
    deployment.agentProfile,
    String(deployment.activeSessionCount),
    formatTime(deployment.createdAt),
    formatTime(deployment.activatedAt),
  ];
}

const tones = { preparing: 'warn', validating: 'warn', ready: 'dim', failed: 'bad' } as const;

function state({ state, serving }: DeploymentDetails): Cell {
  if (serving) return { text: 'serving', rich: deploymentPhaseLabels.Active, tone: 'good' };
  return { text: state, rich: getStatusLabel(deploymentStateLabels, state), tone: tones[state] };
}

function codeCell({ contentHash, image }: DeploymentDetails): Cell {
  if (image === null) return { text: contentHash, rich: contentHash.slice(0, 12) };
  const { reference, digest } = image;
  if (digest === null) return reference;
  return { text: `${reference}@${digest}`, rich: `${reference} (${digest.slice(0, digest.indexOf(':') + 13)})` };
}
