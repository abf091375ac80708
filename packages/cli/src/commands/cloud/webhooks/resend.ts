import { defineCommand } from '../../../command-line/command.ts';
import { reportFirstAttempt, webhookArgument } from '../../../records/webhook.ts';

export const command = defineCommand({
  summary: 'Send an event to a webhook again and wait for the response',
  details: 'The event keeps its id and its payload. The command fails if the receiver does not accept it.',
  arguments: {
    id: webhookArgument,
    'event-id': { description: 'Id of the event, from `cloud webhooks deliveries`' },
  },
  examples: ['cloud webhooks resend 0192f0c1-2345-7000-8000-00000000abcd 0192f0c1-2345-7000-8000-00000000cdef'],
  run: async (context, { id, 'event-id': eventId }) => {
    const client = await context.service();
    const sent = await client.resendWebhookDelivery({ params: { webhookId: id, eventId } });
    return reportFirstAttempt(context, client, id, sent);
  },
});
