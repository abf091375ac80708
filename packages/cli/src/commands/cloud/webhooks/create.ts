import { defineCommand } from '../../../command-line/command.ts';
import { flagOption, textOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import {
  reportWebhookSecret,
  webhookEventNames,
  webhookEventOption,
  webhookEventsHelp,
} from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Create a webhook and show its secret',
  details:
    'The service sends each event as a signed POST request (Standard Webhooks). It shows the secret, which verifies the ' +
    `signatures, only once.\n${webhookEventsHelp}`,
  arguments: { url: { description: 'Where events are sent; https, unless the operator allows the host without TLS' } },
  options: {
    event: webhookEventOption('Send this event; can be repeated'),
    all: flagOption('Send all events'),
    description: textOption({ description: 'Text for lists' }),
  },
  examples: [
    'cloud webhooks create https://example.com/hooks --event session.ended --event session.failed',
    'cloud webhooks create https://example.com/hooks --all --json',
  ],
  run: async ({ service }, { url, event, all, description = '' }) => {
    if (all === event.length > 0) throw new UsageError('Name the events with --event, or send all with --all.');
    const client = await service();
    const created = await client.createWebhook({
      body: { url, events: all ? webhookEventNames : [...event], description },
    });
    return reportWebhookSecret(created);
  },
});
