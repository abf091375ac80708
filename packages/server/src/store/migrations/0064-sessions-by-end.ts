import { type Kysely, sql } from 'kysely';

/** Index that finds the sessions of an organization that ended after a time. */
export const sessionsByEndMigration = {
  name: '0064-sessions-by-end',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index sessions_of_organization_by_end on sessions (organization_id, ended_at)
      where state = 'ended'`.execute(db);
  },
};
