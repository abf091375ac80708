import { type Kysely, sql } from 'kysely';

/** Adds webhooks, and the events that are to be sent or were sent to them. */
export const webhooksMigration = {
  name: '0054-webhooks',
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      `create table webhooks (
        id uuid primary key,
        organization_id uuid not null references organizations,
        url text not null,
        description text not null,
        events jsonb not null,
        enabled boolean not null,
        wrapped_key bytea not null,
        created_at timestamptz not null,
        updated_at timestamptz not null
      )`,
      'create index webhooks_by_organization on webhooks (organization_id)',
      `create table webhook_deliveries (
        webhook_id uuid not null references webhooks on delete cascade,
        event_id uuid not null,
        event text not null,
        subject uuid not null,
        sequence integer not null,
        payload text not null,
        state text not null check (state in ('pending', 'delivered', 'failed')),
        attempts integer not null default 0,
        next_at timestamptz check ((next_at is not null) = (state = 'pending')),
        created_at timestamptz not null,
        attempted_at timestamptz,
        duration_ms integer,
        response_status integer,
        response_body text,
        error text,
        primary key (webhook_id, event_id)
      )`,
      `create index webhook_deliveries_by_webhook on webhook_deliveries
        (webhook_id, created_at desc, sequence desc, event_id desc)`,
      "create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at) where state = 'pending'",
      'create index webhook_deliveries_by_subject on webhook_deliveries (webhook_id, subject, sequence)',
      'create index webhook_deliveries_by_age on webhook_deliveries (created_at)',
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
