import { defineCommand } from '../../../command-line/command.ts';
import { switchOption, textOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import {
  createWebhookFields,
  webhookArgument,
  webhookEventOption,
  webhookEventsHelp,
} from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Change a webhook',
  details:
    'The secret stays the same: cloud webhooks rotate replaces it. While a webhook is disabled, new events are not recorded for it, and recorded ones wait.\n' +
    webhookEventsHelp,
  arguments: { id: webhookArgument },
  options: {
    url: textOption({ description: 'Where events are sent', placeholder: 'URL' }),
    event: webhookEventOption('Send only the named events; can be repeated'),
    description: textOption({ description: 'Text for lists' }),
    enabled: switchOption('Send events'),
  },
  examples: [
    'cloud webhooks update 0192f0c1-2345-7000-8000-00000000abcd --no-enabled',
    'cloud webhooks update 0192f0c1-2345-7000-8000-00000000abcd --event session.failed',
  ],
  run: async ({ service }, { id, url, event, description, enabled }) => {
    const body = {
      ...(url === undefined ? {} : { url }),
      ...(event.length === 0 ? {} : { events: [...event] }),
      ...(description === undefined ? {} : { description }),
      ...(enabled === undefined ? {} : { enabled }),
    };
    if (Object.keys(body).length === 0)
      throw new UsageError('Say what to change: --url, --event, --description, --enabled or --no-enabled.');
    const client = await service();
    const updated = await client.updateWebhook({ params: { webhookId: id }, body });
    return { json: updated, blocks: [{ kind: 'fields', fields: createWebhookFields(updated) }] };
  },
});
