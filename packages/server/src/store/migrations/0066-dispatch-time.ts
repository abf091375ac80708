import { type Kysely, sql } from 'kysely';

/** Names the time of the dispatch of a session like the code does. */
export const dispatchTimeMigration = {
  name: '0066-dispatch-time',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table sessions rename column handed_over_at to dispatched_at`.execute(db);
  },
};
