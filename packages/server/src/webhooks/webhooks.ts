import {
  type AuditAction,
  createApiError,
  type Operations,
  type RequestOf,
  type ResponseOf,
  type Webhook,
  webhookLimits,
} from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { type AllowedHosts, formatHostAndPort } from '../http-client/allowed-hosts.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import {
  deleteWebhookRow,
  insertWebhook,
  listWebhookRows,
  lockWebhooks,
  replaceSigningKey,
  updateWebhookRow,
  type WebhookRow,
} from './rows.ts';
import { createSigningKey } from './signing-key.ts';

type Scope = { readonly organizationId: string };
export type ActingScope = Scope & Actor;
type Context = { readonly db: Database; readonly now: () => Date };
type HostContext = Context & { readonly webhookHosts: AllowedHosts };

export async function listWebhooks(context: { readonly db: Database }, scope: Scope): Promise<Webhook[]> {
  return (await listWebhookRows(context.db, scope.organizationId)).map(toWebhook);
}

/** Creates a webhook. Its secret is returned only here. @throws failure `invalid-request`, `webhooks-too-many` */
export async function createWebhook(
  context: HostContext & { readonly newId: () => string; readonly keyring: Keyring },
  scope: ActingScope,
  request: RequestOf<Operations['createWebhook']>['body'],
): Promise<ResponseOf<Operations['createWebhook']>> {
  requireAllowedUrl(context, request.url);
  const { organizationId } = scope;
  const id = context.newId();
  const { secret, wrapped } = await createSigningKey(context, { organizationId, webhookId: id });
  const now = context.now();
  const row = await context.db.transaction().execute(async (db) => {
    await lockWebhooks(db, organizationId);
    const existing = await listWebhookRows(db, organizationId);
    if (existing.length >= webhookLimits.webhooks) throw createApiError('webhooks-too-many');
    const inserted = await insertWebhook(db, {
      id,
      organization_id: organizationId,
      url: request.url,
      description: request.description,
      events: JSON.stringify(request.events),
      enabled: true,
      wrapped_key: wrapped,
      created_at: now,
      updated_at: now,
    });
    await recordWebhookAudit(db, scope, inserted, { at: now, action: 'webhooks.create' });
    return inserted;
  });
  return { ...toWebhook(row), secret };
}

/** @throws failure `invalid-request`, `webhook-not-found` */
export function updateWebhook(
  context: HostContext,
  scope: ActingScope,
  id: string,
  request: RequestOf<Operations['updateWebhook']>['body'],
): Promise<Webhook> {
  if (request.url !== undefined) requireAllowedUrl(context, request.url);
  const { events, ...fields } = request;
  const at = context.now();
  return context.db.transaction().execute(async (db) => {
    const row = await updateWebhookRow(db, scope.organizationId, id, {
      ...fields,
      ...(events === undefined ? {} : { events: JSON.stringify(events) }),
      updated_at: at,
    });
    if (row === undefined) throw createApiError('webhook-not-found');
    await recordWebhookAudit(db, scope, row, { at, action: 'webhooks.update', details: Object.keys(request) });
    return toWebhook(row);
  });
}

/**
 * Replaces the secret of a webhook, and returns the new one. Until the end of the overlap, requests are signed with both, so that
 * the receiver can change its secret. The next rotation ends the overlap.
 *
 * @throws failure `webhook-not-found`
 */
export async function rotateWebhookSecret(
  context: Context & { readonly keyring: Keyring },
  scope: ActingScope,
  id: string,
): Promise<ResponseOf<Operations['rotateWebhookSecret']>> {
  if (!isUuid(id)) throw createApiError('webhook-not-found');
  const { organizationId } = scope;
  const { secret, wrapped } = await createSigningKey(context, { organizationId, webhookId: id });
  const at = context.now();
  const formerUntil = new Date(at.getTime() + 3_600_000 * webhookLimits.secretOverlapHours);
  return context.db.transaction().execute(async (db) => {
    const row = await replaceSigningKey(db, organizationId, id, { wrapped, at, formerUntil });
    if (row === undefined) throw createApiError('webhook-not-found');
    await recordWebhookAudit(db, scope, row, { at, action: 'webhooks.rotate' });
    return { ...toWebhook(row), secret };
  });
}

/** @throws failure `webhook-not-found` */
export function deleteWebhook(context: Context, scope: ActingScope, id: string): Promise<Webhook> {
  return context.db.transaction().execute(async (db) => {
    const row = await deleteWebhookRow(db, scope.organizationId, id);
    if (row === undefined) throw createApiError('webhook-not-found');
    await recordWebhookAudit(db, scope, row, { at: context.now(), action: 'webhooks.delete' });
    return toWebhook(row);
  });
}

/** Records the host of the URL, but not its path, which may contain a credential. */
export function recordWebhookAudit(
  db: Database,
  scope: ActingScope,
  webhook: Pick<WebhookRow, 'id' | 'url'>,
  entry: { readonly at: Date; readonly action: AuditAction; readonly details?: readonly string[] },
): Promise<void> {
  const { at, action, details = [] } = entry;
  return appendAudit(db, scope.organizationId, {
    ...organizationEventFields,
    at,
    action,
    actor: scope,
    object: webhook.id,
    keys: [new URL(webhook.url).host, ...details],
    result: 'done',
  });
}

/** The address of the host is checked when the service connects. */
function requireAllowedUrl({ webhookHosts }: HostContext, text: string): void {
  const url = new URL(text);
  if (url.protocol === 'https:' || webhookHosts.plain.has(formatHostAndPort(url))) return;
  const message = 'must begin with https. Without TLS, the operator has to allow the host with BOTHOST_WEBHOOK_HOSTS';
  throw createApiError('invalid-request', { issues: [{ path: 'body.url', message }] });
}

function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    enabled: row.enabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
