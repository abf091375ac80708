import {
  createApiError,
  type Operations,
  type RequestOf,
  type ResponseOf,
  type WebhookDelivery,
} from '@bothost/contract';
import { findOrganizationOrOldest } from '../organizations/find.ts';
import { createCursorError } from '../store/cursor-error.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import {
  type DeliveryRow,
  findDelivery,
  findWebhook,
  insertDelivery,
  listDeliveryPage,
  requeueDelivery,
  type WebhookRow,
} from './rows.ts';
import { type ActingScope, recordWebhookAudit } from './webhooks.ts';

type Context = { readonly db: Database; readonly now: () => Date };
type List = Operations['listWebhookDeliveries'];

/** Returns a page of deliveries, newest first. @throws failure `webhook-not-found`, `invalid-request` */
export async function listWebhookDeliveries(
  { db }: { readonly db: Database },
  scope: { readonly organizationId: string },
  webhookId: string,
  { state, limit, cursor }: RequestOf<List>['query'],
): Promise<ResponseOf<List>> {
  const webhook = await requireWebhook(db, scope, webhookId);
  if (cursor !== undefined && !isUuid(cursor)) throw createCursorError();
  const rows = await listDeliveryPage(db, webhook.id, { state, after: cursor, limit: limit + 1 });
  const deliveries = rows.slice(0, limit).map(toWebhookDelivery);
  return { deliveries, nextCursor: rows.length > limit ? (deliveries.at(-1)?.eventId ?? null) : null };
}

/** @throws failure `webhook-not-found`, `webhook-delivery-not-found` */
export async function getWebhookDelivery(
  { db }: { readonly db: Database },
  scope: { readonly organizationId: string },
  { webhookId, eventId }: { readonly webhookId: string; readonly eventId: string },
): Promise<WebhookDelivery> {
  const webhook = await requireWebhook(db, scope, webhookId);
  const row = await findDelivery(db, webhook.id, eventId);
  if (row === undefined) throw createApiError('webhook-delivery-not-found');
  return toWebhookDelivery(row);
}

/** Records the event `webhook.test` for one webhook. @throws failure `webhook-not-found`, `webhook-disabled` */
export function testWebhook(
  context: Context & { readonly newId: () => string },
  scope: ActingScope,
  webhookId: string,
): Promise<WebhookDelivery> {
  return change(context, scope, webhookId, 'webhooks.test', async (db, webhook) => {
    const at = context.now();
    const eventId = context.newId();
    const { name: org } = await findOrganizationOrOldest(db, scope.organizationId);
    const payload = { event_type: 'webhook.test', org, created_at: at.toISOString(), data: { webhook_id: webhook.id } };
    return insertDelivery(db, {
      webhook_id: webhook.id,
      event_id: eventId,
      event: 'webhook.test',
      subject: eventId,
      sequence: 1,
      payload: JSON.stringify(payload),
      state: 'pending',
      next_at: at,
      created_at: at,
    });
  });
}

/**
 * Sends an event again, with its id and payload.
 *
 * @throws failure `webhook-not-found`, `webhook-delivery-not-found`, `webhook-disabled`
 */
export function resendWebhookDelivery(
  context: Context,
  scope: ActingScope,
  { webhookId, eventId }: { readonly webhookId: string; readonly eventId: string },
): Promise<WebhookDelivery> {
  return change(context, scope, webhookId, 'webhooks.resend', async (db, webhook) => {
    const row = await requeueDelivery(db, webhook.id, eventId, context.now());
    if (row === undefined) throw createApiError('webhook-delivery-not-found');
    return row;
  });
}

function change(
  context: Context,
  scope: ActingScope,
  webhookId: string,
  action: 'webhooks.test' | 'webhooks.resend',
  work: (db: Database, webhook: WebhookRow) => Promise<DeliveryRow>,
): Promise<WebhookDelivery> {
  return context.db.transaction().execute(async (db) => {
    const webhook = await requireWebhook(db, scope, webhookId, 'share');
    if (!webhook.enabled) throw createApiError('webhook-disabled');
    const row = await work(db, webhook);
    await recordWebhookAudit(db, scope, webhook, { at: context.now(), action, details: [row.event] });
    return toWebhookDelivery(row);
  });
}

async function requireWebhook(
  db: Database,
  scope: { readonly organizationId: string },
  id: string,
  lock: 'share' | null = null,
): Promise<WebhookRow> {
  const webhook = await findWebhook(db, scope.organizationId, id, lock);
  if (webhook === undefined) throw createApiError('webhook-not-found');
  return webhook;
}

function toWebhookDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    eventId: row.event_id,
    event: row.event,
    state: row.state,
    payload: row.payload,
    createdAt: row.created_at.toISOString(),
    attempts: row.attempts,
    attemptedAt: row.attempted_at?.toISOString() ?? null,
    nextAttemptAt: row.next_at?.toISOString() ?? null,
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    responseBody: row.response_body,
    error: row.error,
  };
}
