import { type Kysely, sql } from 'kysely';

/** Adds the wrapped keys of recordings. */
export const sessionRecordingsMigration = {
  name: '0051-session-recordings',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table session_conversations add column recorded_at timestamptz, add column recording_key bytea`.execute(
      db,
    );
    await sql
      .raw(`create index session_conversations_by_recording on session_conversations (recorded_at)
        where recording_key is not null`)
      .execute(db);
  },
};
