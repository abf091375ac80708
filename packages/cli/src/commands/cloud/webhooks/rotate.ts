import { webhookLimits } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import { reportWebhookSecret, webhookArgument } from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Replace the secret of a webhook and show the new one',
  details:
    `For ${webhookLimits.secretOverlapHours} hours, requests are signed with the former secret, too, so that the receiver can change ` +
    'it. If the former secret is known to others, run the command twice: the second rotation ends the use of the first secret.',
  arguments: { id: webhookArgument },
  examples: ['cloud webhooks rotate 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async ({ service }, { id }) => {
    const client = await service();
    return reportWebhookSecret(await client.rotateWebhookSecret({ params: { webhookId: id } }));
  },
});
