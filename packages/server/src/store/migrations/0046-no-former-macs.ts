import { type Kysely, sql } from 'kysely';

/** Drops the MACs in a format from before 0.1.0. Each start of 0.1.0 replaced them. */
export const dropFormerMacsMigration = {
  name: '0046-no-former-macs',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table secret_revisions drop column former_mac`.execute(db);
  },
};
