import type { ApiClient, Webhook, WebhookDelivery } from '@bothost/contract';
import { type WebhookEvent, webhookEvents } from '@bothost/contract/webhook-events';
import type { CommandContext } from '../command-line/context.ts';
import { choiceOption, repeatedOption } from '../command-line/options.ts';
import { Failure } from '../failure.ts';
import { createFields } from '../output/fields.ts';
import { formatMilliseconds, formatOptionalCell, formatTime, formatYesNo } from '../output/format.ts';
import type { Cell, CommandReport, CommandReportBlock } from '../output/report.ts';

export const webhookEventNames = Object.keys(webhookEvents) as WebhookEvent[];

export const webhookArgument = { description: 'Id of the webhook, from `cloud webhooks list`' };

export const webhookEventsHelp = `Events:\n${webhookEventNames.map((name) => `  ${name}: ${webhookEvents[name]}.`).join('\n')}`;

export function webhookEventOption(description: string) {
  return repeatedOption(choiceOption({ description, short: 'e', placeholder: 'EVENT' }, webhookEventNames));
}

export function createWebhookFields(webhook: Webhook): readonly (readonly [string, Cell])[] {
  return [
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Events', webhook.events.join(' ')],
    ['Enabled', formatYesNo(webhook.enabled)],
    ['Description', formatOptionalCell(webhook.description)],
    ['Created', formatTime(webhook.createdAt)],
  ];
}

export function reportWebhookSecret(webhook: Webhook & { readonly secret: string }): CommandReport {
  return {
    json: webhook,
    blocks: [
      createFields([['Secret', { text: webhook.secret, tone: 'strong' }], ...createWebhookFields(webhook)]),
      { kind: 'note', lines: ['Save the secret now: it cannot be shown again.'] },
    ],
  };
}

export function formatDeliveryStateCell({ state, attempts }: WebhookDelivery): Cell {
  if (state === 'delivered') return { text: 'Delivered', tone: 'good' };
  if (state === 'failed') return { text: 'Failed', tone: 'bad' };
  return { text: attempts === 0 ? 'Pending' : 'Retrying', tone: 'warn' };
}

/** The service sends at once, unless earlier events of the same session wait for their retry. */
const waitMs = 30_000;
const pollMs = 250;

/** Waits for the first attempt of a delivery and reports it. Throws a `Failure` if the receiver did not accept the event. */
export async function reportFirstAttempt(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  webhookId: string,
  sent: WebhookDelivery,
): Promise<CommandReport> {
  const until = io.monotonicMs() + waitMs;
  let delivery = sent;
  messages.status('waiting for the receiver');
  while (delivery.state === 'pending' && delivery.error === null && io.monotonicMs() < until) {
    await io.sleep(pollMs);
    delivery = await client.getWebhookDelivery({ params: { webhookId, eventId: sent.eventId } });
  }
  messages.status(null);
  if (delivery.state !== 'delivered') {
    const problem = delivery.error ?? 'The event was not sent yet.';
    const hint = `The service retries for a day. To see the response, run: botcli cloud webhooks deliveries ${webhookId}`;
    throw new Failure('webhook-not-delivered', problem, hint, { details: { delivery } });
  }
  return { json: delivery, blocks: [createDeliveryBlock(delivery)] };
}

function createDeliveryBlock(delivery: WebhookDelivery): CommandReportBlock {
  const { durationMs } = delivery;
  return createFields([
    ['Event id', delivery.eventId],
    ['Event', delivery.event],
    ['Status', formatDeliveryStateCell(delivery)],
    ['Response', formatOptionalCell(delivery.responseStatus)],
    ['Duration', durationMs === null ? formatOptionalCell(null) : formatMilliseconds(durationMs)],
  ]);
}
