import type { WebhookEvent } from '@bothost/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, WebhookDeliveriesTable, WebhooksTable } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';

export type WebhookRow = Selectable<WebhooksTable>;
export type DeliveryRow = Selectable<WebhookDeliveriesTable>;

export function listWebhookRows(db: Database, organizationId: string): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Prevents concurrent inserts into the webhooks of an organization until the transaction ends. */
export async function lockWebhooks(db: Database, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${organizationId}`}, 0))`.execute(db);
}

export async function insertWebhook(db: Database, row: Insertable<WebhooksTable>): Promise<WebhookRow> {
  return db.insertInto('webhooks').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findWebhook(
  db: Database,
  organizationId: string,
  id: string,
  lock: 'share' | null = null,
): Promise<WebhookRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .$if(lock === 'share', (query) => query.forShare())
    .executeTakeFirst();
}

export async function updateWebhookRow(
  db: Database,
  organizationId: string,
  id: string,
  change: Updateable<WebhooksTable>,
): Promise<WebhookRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db
    .updateTable('webhooks')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Replaces the key of a webhook. The former key signs its requests, too, until `formerUntil`. */
export async function replaceSigningKey(
  db: Database,
  organizationId: string,
  id: string,
  { wrapped, at, formerUntil }: { readonly wrapped: Buffer; readonly at: Date; readonly formerUntil: Date },
): Promise<WebhookRow | undefined> {
  return db
    .updateTable('webhooks')
    .set(({ ref }) => ({
      former_key: ref('wrapped_key'),
      former_key_until: formerUntil,
      wrapped_key: wrapped,
      updated_at: at,
    }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteWebhookRow(
  db: Database,
  organizationId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  if (!isUuid(id)) return undefined;
  return db
    .deleteFrom('webhooks')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Inserts an event of an agent for each enabled webhook that subscribes to it, unless it was inserted before. Locks the webhooks, so
 * that one that is being deleted is skipped: its foreign key would otherwise fail the transaction.
 */
export async function insertDeliveriesOfAgentEvent(
  db: Database,
  event: {
    readonly eventId: string;
    readonly event: WebhookEvent;
    readonly agentId: string;
    readonly subject: string;
    readonly at: Date;
    readonly data: object;
  },
): Promise<void> {
  await sql`/* prepared: record-agent-event */ insert into webhook_deliveries
      (webhook_id, event_id, event, subject, sequence, payload, state, next_at, created_at)
    select webhooks.id, ${event.eventId}::uuid, ${event.event}::text, ${event.subject}::uuid,
      (select coalesce(max(sequence), 0) + 1 from webhook_deliveries
        where webhook_id = webhooks.id and subject = ${event.subject}),
      json_build_object('event_type', ${event.event}::text, 'org', organizations.name,
        'created_at', ${event.at.toISOString()}::text,
        'data', jsonb_build_object('service', agents.name, 'region', agents.region) || ${JSON.stringify(event.data)}::jsonb
      )::text,
      'pending', ${event.at}::timestamptz, ${event.at}::timestamptz
    from agents
      join organizations on organizations.id = agents.organization_id
      join webhooks on webhooks.organization_id = agents.organization_id
    where agents.id = ${event.agentId} and webhooks.enabled and webhooks.events @> ${JSON.stringify([event.event])}::jsonb
    for key share of webhooks
    on conflict (webhook_id, event_id) do nothing`.execute(db);
}

export function insertDelivery(db: Database, row: Insertable<WebhookDeliveriesTable>): Promise<DeliveryRow> {
  return db.insertInto('webhook_deliveries').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findDelivery(db: Database, webhookId: string, eventId: string): Promise<DeliveryRow | undefined> {
  if (!isUuid(eventId)) return undefined;
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
}

/** Makes a delivery due again, with all its attempts. Also a delivery that is being sent now: it is then sent twice. */
export async function requeueDelivery(
  db: Database,
  webhookId: string,
  eventId: string,
  now: Date,
): Promise<DeliveryRow | undefined> {
  if (!isUuid(eventId)) return undefined;
  return db
    .updateTable('webhook_deliveries')
    .set({
      state: 'pending',
      attempts: 0,
      next_at: now,
      attempted_at: null,
      duration_ms: null,
      response_status: null,
      response_body: null,
      error: null,
    })
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .returningAll()
    .executeTakeFirst();
}

/** Lists the deliveries of a webhook, newest first. `after` is the event id of the last delivery of the previous page. */
export function listDeliveryPage(
  db: Database,
  webhookId: string,
  page: {
    readonly state: DeliveryRow['state'] | undefined;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<DeliveryRow[]> {
  const { state, after, limit } = page;
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'pending'))
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, sequence, event_id) < (select created_at, sequence, event_id
        from webhook_deliveries last where last.webhook_id = ${webhookId} and last.event_id = ${after})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('sequence', 'desc')
    .orderBy('event_id', 'desc')
    .limit(limit)
    .execute();
}

/** A delivery that this server may send until its lease ends. */
export type ClaimedDelivery = Pick<DeliveryRow, 'webhook_id' | 'event_id' | 'event' | 'payload' | 'attempts'> &
  Pick<WebhookRow, 'organization_id' | 'url' | 'wrapped_key' | 'former_key' | 'former_key_until'>;

/**
 * Claims due deliveries: of each webhook except `busy` the oldest ones, at most `perWebhook`, and never two of the same subject. The
 * oldest one of each webhook comes before the second one of any, so that a webhook with a backlog does not stop the others.
 * A claim counts as an attempt. If it is not recorded until `leaseEndsAt`, the delivery is due again.
 */
export async function claimDueDeliveries(
  db: Database,
  claim: {
    readonly now: Date;
    readonly leaseEndsAt: Date;
    readonly busy: readonly string[];
    readonly perWebhook: number;
    readonly limit: number;
  },
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`/* prepared: claim-deliveries */
    with due as (
      select head.webhook_id, head.event_id, webhooks.organization_id, webhooks.url, webhooks.wrapped_key,
        webhooks.former_key, webhooks.former_key_until
      from webhooks join organizations on organizations.id = webhooks.organization_id
        cross join lateral (
          select webhook_id, event_id, next_at, row_number() over (order by d.next_at) as rank from webhook_deliveries d
          where d.webhook_id = webhooks.id and d.state = 'pending' and d.next_at <= ${claim.now}
            and not exists (select from webhook_deliveries earlier where earlier.webhook_id = d.webhook_id
              and earlier.subject = d.subject and earlier.sequence < d.sequence and earlier.state = 'pending')
          order by d.next_at limit ${claim.perWebhook}
        ) head
      where webhooks.enabled and organizations.deleted_at is null and webhooks.id <> all(${claim.busy}::uuid[])
      order by head.rank, head.next_at limit ${claim.limit}
    ), locked as (
      select due.* from due join webhook_deliveries d using (webhook_id, event_id)
      where d.state = 'pending' and d.next_at <= ${claim.now}
      for update of d skip locked
    )
    update webhook_deliveries d
    set next_at = ${claim.leaseEndsAt}, attempts = attempts + 1, attempted_at = ${claim.now}
    from locked where d.webhook_id = locked.webhook_id and d.event_id = locked.event_id
    returning d.webhook_id, d.event_id, d.event, d.payload, d.attempts,
      locked.organization_id, locked.url, locked.wrapped_key, locked.former_key, locked.former_key_until`.execute(db);
  return rows;
}

export type DeliveryResult = Pick<DeliveryRow, 'response_status' | 'response_body' | 'error' | 'duration_ms'>;

/**
 * Records the result of an attempt, unless another attempt began since. `nextAt` is null if the delivery is over. Later events of
 * the subject become due with the next attempt, or now if the delivery is over.
 */
export async function recordDeliveryResult(
  db: Database,
  delivery: ClaimedDelivery,
  result: DeliveryResult,
  next: { readonly state: DeliveryRow['state']; readonly nextAt: Date | null; readonly now: Date },
): Promise<void> {
  await sql`with recorded as (
      update webhook_deliveries set state = ${next.state}, next_at = ${next.nextAt},
        response_status = ${result.response_status}, response_body = ${result.response_body}, error = ${result.error},
        duration_ms = ${result.duration_ms}
      where webhook_id = ${delivery.webhook_id} and event_id = ${delivery.event_id} and state = 'pending'
        and attempts = ${delivery.attempts}
      returning webhook_id, subject, sequence, next_at
    )
    update webhook_deliveries later set next_at = coalesce(recorded.next_at, ${next.now}) from recorded
    where later.webhook_id = recorded.webhook_id and later.subject = recorded.subject
      and later.sequence > recorded.sequence and later.state = 'pending' and later.attempts = 0`.execute(db);
}

/** Deletes deliveries of events before a time, at most `limit`. Keeps pending ones. Returns their number. */
export async function deleteDeliveriesBefore(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from webhook_deliveries where (webhook_id, event_id) in (
    select webhook_id, event_id from webhook_deliveries
    where created_at < ${before} and state <> 'pending' order by created_at limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export async function deleteWebhooksOfDeletedOrganizations(db: Database): Promise<void> {
  await sql`delete from webhooks using organizations
    where organizations.id = organization_id and deleted_at is not null`.execute(db);
}
