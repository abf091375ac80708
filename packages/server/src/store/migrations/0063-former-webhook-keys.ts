import { type Kysely, sql } from 'kysely';

/** Adds the key that signs the requests of a webhook together with its current key, for some time after a rotation. */
export const formerWebhookKeysMigration = {
  name: '0063-former-webhook-keys',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table webhooks add column former_key bytea, add column former_key_until timestamptz`.execute(db);
  },
};
