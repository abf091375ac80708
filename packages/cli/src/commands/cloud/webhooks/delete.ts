import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';
import { webhookArgument } from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Delete a webhook, its secret and its deliveries',
  arguments: { id: webhookArgument },
  options: confirmationOptions,
  examples: ['cloud webhooks delete 0192f0c1-2345-7000-8000-00000000abcd --yes'],
  run: async ({ service, io }, { id, yes, force }) => {
    const client = await service();
    if (!yes && !force) {
      const webhook = (await client.listWebhooks()).webhooks.find((one) => one.id === id.toLowerCase());
      await requireConfirmation(io, `Delete the webhook ${webhook === undefined ? id : `to ${webhook.url}`}?`, '--yes');
    }
    const deleted = await client.deleteWebhook({ params: { webhookId: id } });
    const fields = createFields([
      ['Deleted', deleted.id],
      ['URL', deleted.url],
    ]);
    return { json: deleted, blocks: [fields] };
  },
});
