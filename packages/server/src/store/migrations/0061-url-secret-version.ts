import { type Kysely, sql } from 'kysely';

/** Adds how often the secrets in the URLs of an agent were replaced. */
export const urlSecretVersionMigration = {
  name: '0061-url-secret-version',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table agents add column url_secret_version integer not null default 0`.execute(db);
  },
};
