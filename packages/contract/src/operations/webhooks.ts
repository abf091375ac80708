import { z } from 'zod';
import { editors } from '../authorization.ts';
import { webhookLimits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { type WebhookEvent, webhookEvents } from '../webhook-events.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const eventNames = Object.keys(webhookEvents) as [WebhookEvent, ...WebhookEvent[]];

const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(webhookLimits.urlLength)
  .refine((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', {
    message: 'must not contain a user name or a password',
  })
  // The normalized form has no control characters, which the database cannot store.
  .transform((text) => (URL.canParse(text) ? new URL(text).href : text))
  .describe('Must begin with https, unless the operator allows the host without TLS');
const Description = z
  .string()
  .trim()
  .max(webhookLimits.descriptionLength)
  .regex(/^\P{Cc}*$/u, 'contains control characters');
const Events = z
  .array(z.enum(eventNames))
  .min(1)
  .transform((events) => eventNames.filter((name) => events.includes(name)));

const fields = {
  id: Uuid,
  url: z.string(),
  description: z.string(),
  events: z.array(z.enum(eventNames)),
  enabled: z.boolean().describe('While false, new events are not recorded, and recorded ones are not sent'),
  createdAt: IsoDateTime,
  updatedAt: IsoDateTime,
};
const Webhook = z.object(fields).meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;
export const CreatedWebhook = z.object({
  ...fields,
  secret: z.string().describe('Signs the requests (whsec_ and base64). Only this response contains it'),
});

export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;

const WebhookDelivery = z
  .object({
    eventId: Uuid.describe('The header webhook-id of each request'),
    event: z.enum([...eventNames, 'webhook.test']),
    state: z.enum(webhookDeliveryStates),
    payload: z.string().describe('The body of each request, as JSON text'),
    createdAt: IsoDateTime,
    attempts: z.number().int(),
    attemptedAt: IsoDateTime.nullable().describe('When the last attempt began'),
    nextAttemptAt: IsoDateTime.nullable(),
    durationMs: z.number().int().nullable().describe('Duration of the last attempt'),
    responseStatus: z.number().int().nullable().describe('HTTP status of the last attempt'),
    responseBody: z
      .string()
      .nullable()
      .describe(`Response to the last attempt, at most its first ${webhookLimits.responseBytes} bytes`),
    error: z.string().nullable().describe('Why the last attempt failed'),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** Viewers may call none of these operations, because the URL of a webhook may contain a credential. */
const webhookOperation = { tag: 'webhooks', key: 'private', grantees: editors } as const;
const WebhookPath = z.object({ webhookId: z.string() });
const DeliveryPath = WebhookPath.extend({ eventId: z.string() });

export const listWebhooks = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'listWebhooks',
  summary: 'List the webhooks of the organization, oldest first',
  path: '/webhooks',
  response: z.object({ webhooks: z.array(Webhook) }),
  errors: [],
});

export const createWebhook = defineOperation({
  ...requestWithBody,
  ...webhookOperation,
  name: 'createWebhook',
  summary: 'Create a webhook. Only this response contains its secret',
  audit: 'webhooks.create',
  path: '/webhooks',
  body: z.object({ url: WebhookUrl, events: Events, description: Description.default('') }),
  status: 201,
  response: CreatedWebhook,
  errors: ['invalid-request', 'webhooks-too-many', 'vault-unavailable'],
});

export const updateWebhook = defineOperation({
  ...requestWithBody,
  ...webhookOperation,
  name: 'updateWebhook',
  summary: 'Change the address or the events of a webhook, or turn it off or on',
  method: 'PATCH',
  audit: 'webhooks.update',
  path: '/webhooks/{webhookId}',
  params: WebhookPath,
  body: z.object({
    url: WebhookUrl.optional(),
    events: Events.optional(),
    description: Description.optional(),
    enabled: z.boolean().optional(),
  }),
  response: Webhook,
  errors: ['invalid-request', 'webhook-not-found'],
});

export const rotateWebhookSecret = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'rotateWebhookSecret',
  summary: `Replace the secret of a webhook. For ${webhookLimits.secretOverlapHours} hours, or until the next rotation, requests are signed with both secrets`,
  method: 'POST',
  audit: 'webhooks.rotate',
  path: '/webhooks/{webhookId}/rotate',
  params: WebhookPath,
  response: CreatedWebhook,
  errors: ['webhook-not-found', 'vault-unavailable'],
});

export const deleteWebhook = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'deleteWebhook',
  summary: 'Delete a webhook and its deliveries',
  method: 'DELETE',
  audit: 'webhooks.delete',
  path: '/webhooks/{webhookId}',
  params: WebhookPath,
  response: Webhook,
  errors: ['webhook-not-found'],
});

export const testWebhook = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'testWebhook',
  summary: 'Send the event webhook.test to a webhook',
  method: 'POST',
  audit: 'webhooks.test',
  path: '/webhooks/{webhookId}/test',
  params: WebhookPath,
  status: 202,
  response: WebhookDelivery,
  errors: ['webhook-not-found', 'webhook-disabled'],
});

export const listWebhookDeliveries = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'listWebhookDeliveries',
  summary: 'List the deliveries of a webhook, newest first',
  path: '/webhooks/{webhookId}/deliveries',
  params: WebhookPath,
  query: z.object({
    state: z.enum(webhookDeliveryStates).optional(),
    limit: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(webhookLimits.deliveriesPerPage)
      .default(webhookLimits.deliveriesPerPage),
    cursor: z.string().optional().describe('nextCursor of the previous page'),
  }),
  response: z.object({ deliveries: z.array(WebhookDelivery), nextCursor: z.string().nullable() }),
  errors: ['invalid-request', 'webhook-not-found'],
});

export const getWebhookDelivery = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'getWebhookDelivery',
  summary: 'Get a delivery of a webhook',
  path: '/webhooks/{webhookId}/deliveries/{eventId}',
  params: DeliveryPath,
  response: WebhookDelivery,
  errors: ['webhook-not-found', 'webhook-delivery-not-found'],
});

export const resendWebhookDelivery = defineOperation({
  ...requestWithoutBody,
  ...webhookOperation,
  name: 'resendWebhookDelivery',
  summary: 'Send an event to a webhook again, with the same id',
  method: 'POST',
  audit: 'webhooks.resend',
  path: '/webhooks/{webhookId}/deliveries/{eventId}/resend',
  params: DeliveryPath,
  status: 202,
  response: WebhookDelivery,
  errors: ['webhook-not-found', 'webhook-delivery-not-found', 'webhook-disabled'],
});
