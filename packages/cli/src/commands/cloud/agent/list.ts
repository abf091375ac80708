import { defineCommand } from '../../../command-line/command.ts';
import { textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { createTable } from '../../../output/table.ts';
import { agentStatusCells } from '../../../records/agent-status.ts';
import { formatSecretSetState } from '../../../records/secret-set-state.ts';

export const command = defineCommand({
  summary: 'List the agents of the organization',
  details: 'Columns: name, region, agent id, active deployment id, secret set, created, updated, status, last deploy.',
  options: { region: textOption({ description: 'Only agents in this region', short: 'r', placeholder: 'REGION' }) },
  examples: ['cloud agent list', 'cloud agent list --region us-west --json'],
  run: async ({ service }, { region }) => {
    const client = await service();
    const { agents } = await client.listAgents({ query: { region } });
    const table = createTable(agents, 'No agents found.', [
      ['Name', ({ name }) => ({ text: name, tone: 'strong' })],
      ['Region', ({ region }) => region],
      ['Agent id', ({ id }) => id, { dropOrder: 2 }],
      ['Active deployment id', (agent) => formatOptionalCell(agent.activeDeploymentId), { dropOrder: 1 }],
      [
        'Secret set',
        ({ secretSets }) =>
          secretSets.length === 0 ? formatOptionalCell(null) : secretSets.map(formatSecretSetState).join(', '),
        { dropOrder: 5 },
      ],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 3 }],
      ['Updated', ({ updatedAt }) => formatTime(updatedAt), { dropOrder: 4 }],
      ['Status', (agent) => agentStatusCells(agent)[0]],
      ['Last deploy', (agent) => agentStatusCells(agent)[1]],
    ]);
    return { json: { agents }, blocks: [table] };
  },
});
