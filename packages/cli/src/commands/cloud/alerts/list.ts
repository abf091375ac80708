import { formatAlertThreshold } from '@bothost/contract/alert-kinds';
import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the alerts of all agents, with their open incidents',
  details: 'Columns: agent, kind, threshold, status, since when the incident is open, id.',
  examples: ['cloud alerts list', 'cloud alerts list --json'],
  run: async ({ service }) => {
    const { alerts } = await (await service()).listAlerts();
    const table = createTable(alerts, 'No alerts found.', [
      ['Agent', ({ agentName }) => agentName],
      ['Kind', ({ kind }) => kind],
      ['Threshold', formatAlertThreshold, { dropOrder: 2 }],
      [
        'Status',
        ({ incident }) => (incident === null ? { text: 'OK', tone: 'good' } : { text: 'Incident', tone: 'bad' }),
      ],
      ['Since', ({ incident }) => formatTime(incident?.openedAt ?? null), { dropOrder: 1 }],
      ['Id', ({ id }) => id],
    ]);
    return { json: { alerts }, blocks: [table] };
  },
});
