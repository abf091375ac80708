import { type Kysely, sql } from 'kysely';

/** Adds what is kept of an agent's conversations, and each session's level: null if an earlier version ran it. */
export const conversationLevelMigration = {
  name: '0048-conversation-level',
  async up(db: Kysely<unknown>): Promise<void> {
    const check = "check (conversation_level in ('off', 'timings', 'transcript', 'recording'))";
    await sql
      .raw(`alter table agents add column conversation_level text not null default 'timings' ${check}`)
      .execute(db);
    await sql.raw(`alter table sessions add column conversation_level text ${check}`).execute(db);
  },
};
