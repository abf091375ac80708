import type { WebhookDelivery } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, integerOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { formatDeliveryStateCell, webhookArgument } from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'List what was sent to a webhook, newest first',
  details:
    'Columns: event id, event, status, attempts, HTTP status, problem, next attempt, created. With --json also the payload and ' +
    'the beginning of the response.',
  arguments: { id: webhookArgument },
  options: {
    limit: integerOption({ description: 'Deliveries per page, 20 by default', short: 'n' }, 1, 50),
    state: choiceOption({ description: 'Only deliveries in this state', short: 's' }, [
      'pending',
      'delivered',
      'failed',
    ]),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud webhooks deliveries 0192f0c1-2345-7000-8000-00000000abcd --state failed'],
  run: async ({ service }, { id, limit = 20, state, cursor }) => {
    const client = await service();
    const page = await client.listWebhookDeliveries({
      params: { webhookId: id },
      query: { limit, ...(state === undefined ? {} : { state }), ...(cursor === undefined ? {} : { cursor }) },
    });
    const more = page.nextCursor === null ? [] : [`Next page: --cursor ${page.nextCursor}`];
    return {
      json: page,
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Event id' },
            { title: 'Event' },
            { title: 'Status' },
            { title: 'Attempts', align: 'right', dropOrder: 2 },
            { title: 'HTTP', align: 'right', dropOrder: 4 },
            { title: 'Problem', dropOrder: 5 },
            { title: 'Next attempt', dropOrder: 1 },
            { title: 'Created', dropOrder: 3 },
          ],
          rows: page.deliveries.map(row),
          empty: 'No deliveries found.',
        },
        ...(more.length === 0 ? [] : [{ kind: 'note', lines: more } as const]),
      ],
    };
  },
});

function row(delivery: WebhookDelivery) {
  return [
    delivery.eventId,
    delivery.event,
    formatDeliveryStateCell(delivery),
    String(delivery.attempts),
    formatOptionalCell(delivery.responseStatus),
    formatOptionalCell(delivery.error),
    formatTime(delivery.nextAttemptAt),
    formatTime(delivery.createdAt),
  ];
}
