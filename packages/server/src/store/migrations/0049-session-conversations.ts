import { type Kysely, sql } from 'kysely';

/** Adds the numbers of conversations, and the wrapped keys of the files with their lines. */
export const sessionConversationsMigration = {
  name: '0049-session-conversations',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create table session_conversations (
        session_id uuid primary key references sessions on delete cascade,
        host_id uuid not null references hosts on update cascade,
        state text not null check (state in ('live', 'complete', 'incomplete', 'expired', 'deleted')),
        wrapped_key bytea,
        numbers jsonb,
        response_p50_ms integer,
        response_p95_ms integer,
        interruptions integer,
        errors integer,
        created_at timestamptz not null,
        ended_at timestamptz
      )`)
      .execute(db);
    await sql
      .raw(`create index session_conversations_by_age on session_conversations (created_at)
        where wrapped_key is not null`)
      .execute(db);
  },
};
