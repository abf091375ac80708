import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the webhooks of the organization',
  details: 'Columns: id, URL, events, status, description, created.',
  examples: ['cloud webhooks list', 'cloud webhooks list --json'],
  run: async ({ service }) => {
    const { webhooks } = await (await service()).listWebhooks();
    const table = createTable(webhooks, 'No webhooks found.', [
      ['Id', ({ id }) => id],
      ['URL', ({ url }) => url],
      ['Events', ({ events }) => events.join(' '), { dropOrder: 3 }],
      ['Status', ({ enabled }) => (enabled ? { text: 'Enabled', tone: 'good' } : { text: 'Disabled', tone: 'warn' })],
      ['Description', ({ description }) => description, { dropOrder: 2 }],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 1 }],
    ]);
    return { json: { webhooks }, blocks: [table] };
  },
});
