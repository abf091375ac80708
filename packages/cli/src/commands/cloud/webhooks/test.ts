import { defineCommand } from '../../../command-line/command.ts';
import { reportFirstAttempt, webhookArgument } from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Send a test event to a webhook and wait for the response',
  details: 'The event is webhook.test, which every webhook gets. The command fails if the receiver does not accept it.',
  arguments: { id: webhookArgument },
  examples: ['cloud webhooks test 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async (context, { id }) => {
    const client = await context.service();
    const sent = await client.testWebhook({ params: { webhookId: id } });
    return reportFirstAttempt(context, client, id, sent);
  },
});
