import { defineCommand } from '../../../command-line/command.ts';
import { textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { agentStatusCells } from '../../../records/agent-status.ts';
import { formatSecretSetState } from '../../../records/secret-set-state.ts';

export const command = defineCommand({
  summary: 'List the agents of the organization',
  details: 'Columns: name, region, agent id, active deployment id, secret set, created, updated, status, last deploy.',
  arguments: {},
  options: { region: textOption({ description: 'Only agents in this region', short: 'r', placeholder: 'REGION' }) },
  examples: ['cloud agent list', 'cloud agent list --region us-west --json'],
  run: async ({ service }, { region }) => {
    const client = await service();
    const { agents } = await client.listAgents(region === undefined ? {} : { query: { region } });
    return {
      json: { agents },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Name' },
            { title: 'Region' },
            { title: 'Agent id', dropOrder: 2 },
            { title: 'Active deployment id', dropOrder: 1 },
            { title: 'Secret set', dropOrder: 5 },
            { title: 'Created', dropOrder: 3 },
            { title: 'Updated', dropOrder: 4 },
            { title: 'Status' },
            { title: 'Last deploy' },
          ],
          rows: agents.map((agent) => [
            { text: agent.name, tone: 'strong' },
            agent.region,
            agent.id,
            formatOptionalCell(agent.activeDeploymentId),
            agent.secretSets.length === 0
              ? formatOptionalCell(null)
              : agent.secretSets.map(formatSecretSetState).join(', '),
            formatTime(agent.createdAt),
            formatTime(agent.updatedAt),
            ...agentStatusCells(agent),
          ]),
          empty: 'No agents found.',
        },
      ],
    };
  },
});
