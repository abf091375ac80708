import { type Kysely, sql } from 'kysely';

/** Adds when the room of a session expires. Earlier rooms expire at most five hours after their creation. */
export const roomExpiryMigration = {
  name: '0060-room-expiry',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table session_rooms add column expires_at timestamptz`.execute(db);
    await sql`update session_rooms set expires_at = created_at + interval '5 hours'`.execute(db);
    await sql`alter table session_rooms alter column expires_at set not null`.execute(db);
  },
};
