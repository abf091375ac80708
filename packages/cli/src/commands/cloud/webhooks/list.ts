import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'List the webhooks of the organization',
  details: 'Columns: id, URL, events, status, description, created.',
  arguments: {},
  options: {},
  examples: ['cloud webhooks list', 'cloud webhooks list --json'],
  run: async ({ service }) => {
    const { webhooks } = await (await service()).listWebhooks();
    return {
      json: { webhooks },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Id' },
            { title: 'URL' },
            { title: 'Events', dropOrder: 3 },
            { title: 'Status' },
            { title: 'Description', dropOrder: 2 },
            { title: 'Created', dropOrder: 1 },
          ],
          rows: webhooks.map((webhook) => [
            webhook.id,
            webhook.url,
            webhook.events.join(' '),
            webhook.enabled ? { text: 'Enabled', tone: 'good' } : { text: 'Disabled', tone: 'warn' },
            webhook.description,
            formatTime(webhook.createdAt),
          ]),
          empty: 'No webhooks found.',
        },
      ],
    };
  },
});
