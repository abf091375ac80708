import { type Kysely, sql } from 'kysely';

/** Moments of a session's start after the bot has accepted the session. Null if unknown. */
export const startMomentsMigration = {
  name: '0032-start-moments',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(
        `alter table sessions
          add column bot_called_at timestamptz,
          add column transport_connected_at timestamptz,
          add column first_frame_at timestamptz`,
      )
      .execute(db);
  },
};
