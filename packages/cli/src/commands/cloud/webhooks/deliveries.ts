import { webhookLimits } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, pageSizeOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { createNextPageNote, createTable } from '../../../output/table.ts';
import { formatDeliveryStateCell, webhookArgument } from '../../../records/webhook.ts';

const pageSize = { default: 20, maximum: webhookLimits.deliveriesPerPage };

export const command = defineCommand({
  summary: 'List what was sent to a webhook, newest first',
  details:
    'Columns: event id, event, status, attempts, HTTP status, problem, next attempt, created. With --json also the payload and ' +
    'the beginning of the response.',
  arguments: { id: webhookArgument },
  options: {
    limit: pageSizeOption(pageSize, 'Deliveries'),
    state: choiceOption({ description: 'Only deliveries in this state', short: 's' }, [
      'pending',
      'delivered',
      'failed',
    ]),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud webhooks deliveries 0192f0c1-2345-7000-8000-00000000abcd --state failed'],
  run: async ({ service }, { id, limit = pageSize.default, state, cursor }) => {
    const client = await service();
    const page = await client.listWebhookDeliveries({ params: { webhookId: id }, query: { limit, state, cursor } });
    const table = createTable(page.deliveries, 'No deliveries found.', [
      ['Event id', ({ eventId }) => eventId],
      ['Event', ({ event }) => event],
      ['Status', formatDeliveryStateCell],
      ['Attempts', ({ attempts }) => String(attempts), { align: 'right', dropOrder: 2 }],
      ['HTTP', (delivery) => formatOptionalCell(delivery.responseStatus), { align: 'right', dropOrder: 4 }],
      ['Problem', (delivery) => formatOptionalCell(delivery.error), { dropOrder: 5 }],
      ['Next attempt', ({ nextAttemptAt }) => formatTime(nextAttemptAt), { dropOrder: 1 }],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 3 }],
    ]);
    return { json: page, blocks: [table, ...createNextPageNote(page.nextCursor)] };
  },
});
