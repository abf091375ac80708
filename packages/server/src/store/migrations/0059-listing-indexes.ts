import { type Kysely, sql } from 'kysely';

/** Adds indexes that find the existing rooms of an organization and the failed deliveries of a webhook among very many rows. */
export const listingIndexesMigration = {
  name: '0059-listing-indexes',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index session_rooms_open on session_rooms (organization_id, provider)
      where deleted_at is null`.execute(db);
    await sql`create index webhook_deliveries_failed on webhook_deliveries
      (webhook_id, created_at desc, sequence desc, event_id desc) where state = 'failed'`.execute(db);
  },
};
