import { type Kysely, sql } from 'kysely';

/** Adds a table of the phone calls whose sessions were deleted by retention. */
export const pastCallsMigration = {
  name: '0062-past-calls',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table past_calls (
      agent_id uuid not null references agents (id) on delete cascade,
      carrier text not null,
      call text not null,
      primary key (agent_id, carrier, call)
    )`.execute(db);
  },
};
