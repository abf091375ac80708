import { type Kysely, sql } from 'kysely';

/** Adds what bots remove from the texts of conversations: for each agent, and for each session from its start on. */
export const conversationRedactionMigration = {
  name: '0052-conversation-redaction',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['agents', 'sessions'])
      await sql.raw(`alter table ${table} add column conversation_redact jsonb not null default '[]'`).execute(db);
  },
};
