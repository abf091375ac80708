import type { Alert } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';
import { formatAlertThreshold } from '../../../records/alert.ts';

export const command = defineCommand({
  summary: 'List the alerts of all agents, with their open incidents',
  details: 'Columns: agent, kind, threshold, status, since when the incident is open, id.',
  arguments: {},
  options: {},
  examples: ['cloud alerts list', 'cloud alerts list --json'],
  run: async ({ service }) => {
    const { alerts } = await (await service()).listAlerts();
    return {
      json: { alerts },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Agent' },
            { title: 'Kind' },
            { title: 'Threshold', dropOrder: 2 },
            { title: 'Status' },
            { title: 'Since', dropOrder: 1 },
            { title: 'Id' },
          ],
          rows: alerts.map((alert) => [
            alert.agentName,
            alert.kind,
            formatAlertThreshold(alert),
            formatIncidentCell(alert),
            formatTime(alert.incident?.openedAt ?? null),
            alert.id,
          ]),
          empty: 'No alerts found.',
        },
      ],
    };
  },
});

function formatIncidentCell({ incident }: Alert): Cell {
  return incident === null ? { text: 'OK', tone: 'good' } : { text: 'Incident', tone: 'bad' };
}
