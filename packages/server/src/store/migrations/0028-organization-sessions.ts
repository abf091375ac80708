import { type Kysely, sql } from 'kysely';

/** Index that finds the newest sessions of an organization without sorting all of its sessions. */
export const organizationSessionsMigration = {
  name: '0028-organization-sessions',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw('create index sessions_of_organization on sessions (organization_id, created_at desc, id desc)')
      .execute(db);
  },
};
